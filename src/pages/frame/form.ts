// Reads the fields of small forms.

import { DomainError, isDomainError } from '../../domain/errors.ts'
import type { Problems } from '../../domain/problems.ts'
import type { Exchange } from '../../http/door/exchange.ts'
import { readBody } from '../../http/intake/body.ts'
import { parseUrlencoded } from '../../http/intake/urlencoded.ts'

export type Form = {
  /** Returns '' if the field is missing. */
  text(name: string): string
  isTicked(name: string): boolean
  /** All fields in the order in which they were sent. */
  fields: readonly [string, string][]
}

/** A refused form that is shown again: what was sent, and its problems. */
export type RefusedForm = { form: Form; problems: Problems }

/** Returns the problems of an `invalid` error. Throws any other cause. */
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
  // Do not count small forms against the memory limit for bodies.
  take: () => undefined,
  turn: async () => undefined,
}

const TYPE = 'application/x-www-form-urlencoded'

/**
 * Reads the body as a form, even without a content type. Throws `unsupported_type`, `too_large`, `too_slow`
 * or `malformed`.
 */
export async function readForm(exchange: Exchange): Promise<Form> {
  const [type = ''] = (exchange.request.headers.get('content-type') ?? '').split(';', 1)
  if (!['', TYPE].includes(type.trim().toLowerCase()))
    throw new DomainError('unsupported_type', `Send ${TYPE}.`)
  return formOf(parseUrlencoded(await readBody(exchange, LIMITS), 'form'))
}

function formOf(fields: readonly [string, string][]): Form {
  // If several fields have one name, use the first.
  const first = new Map(fields.toReversed())
  return { text: (name) => first.get(name) ?? '', isTicked: (name) => first.has(name), fields }
}
