// Reads the fields of a small form.

import type { Exchange } from '../../door/exchange.ts'
import { readBody } from '../../intake/body.ts'

export type Form = {
  /** '' for a missing field. */
  text(name: string): string
  isTicked(name: string): boolean
  /** All fields in the order in which they were sent. */
  fields: readonly [string, string][]
}

const MAX_BYTES = 64 * 1024
const LIMITS = {
  maxBytes: MAX_BYTES,
  limit: null,
  maxStreamBytes: MAX_BYTES,
  timeoutMs: 30_000,
  // Forms are too small to count against the room for bodies.
  take: () => undefined,
}

/** Throws `too_large` or `too_slow`. */
export async function readForm(exchange: Exchange): Promise<Form> {
  const bytes = await readBody(exchange, LIMITS)
  return formOf(new URLSearchParams(new TextDecoder().decode(bytes)))
}

/** A form that was sent in the address, such as a search. */
export function formOf(fields: URLSearchParams): Form {
  return {
    text: (name) => fields.get(name) ?? '',
    isTicked: (name) => fields.get(name) !== null,
    fields: [...fields],
  }
}
