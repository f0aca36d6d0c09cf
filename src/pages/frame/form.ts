// Reads the fields of a small form.

import { DomainError, isDomainError } from '../../domain/errors.ts'
import type { Problems } from '../../domain/problems.ts'
import type { Exchange } from '../../http/door/exchange.ts'
import { readBody } from '../../http/intake/body.ts'
import { parseUrlencoded } from '../../http/intake/urlencoded.ts'

export type Form = {
  /** '' for a missing field. */
  text(name: string): string
  isTicked(name: string): boolean
  /** All fields in the order in which they were sent. */
  fields: readonly [string, string][]
}

/** A form that is shown again: what was sent, and what is wrong with it. */
export type RefusedForm = { form: Form; problems: Problems }

/** What is wrong with a form that was refused. Throws any other cause. */
export function problemsIn(cause: unknown): Problems {
  if (isDomainError(cause, 'invalid')) return cause.details.problems ?? {}
  throw cause
}

const MAX_BYTES = 64 * 1024
const LIMITS = {
  maxBytes: MAX_BYTES,
  limit: null,
  maxStreamBytes: MAX_BYTES,
  timeoutMs: 30_000,
  // Forms are too small to count against the room for bodies.
  take: () => undefined,
  turn: async () => undefined,
}

const TYPE = 'application/x-www-form-urlencoded'

/**
 * A body without a content type is read as a form. Throws `unsupported_type`, `too_large`, `too_slow` or
 * `malformed`.
 */
export async function readForm(exchange: Exchange): Promise<Form> {
  const [type = ''] = (exchange.request.headers.get('content-type') ?? '').split(';', 1)
  if (!['', TYPE].includes(type.trim().toLowerCase()))
    throw new DomainError('unsupported_type', `Send ${TYPE}.`)
  return formOf(parseUrlencoded(await readBody(exchange, LIMITS), 'form'))
}

function formOf(fields: readonly [string, string][]): Form {
  // Of several fields of one name the first counts.
  const first = new Map(fields.toReversed())
  return { text: (name) => first.get(name) ?? '', isTicked: (name) => first.has(name), fields }
}
