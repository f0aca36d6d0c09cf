// The fields of a small form.

import type { Exchange } from '../../door/exchange.ts'
import { readBody } from '../../intake/body.ts'

export type Form = {
  /** '' for what is not there. */
  text(name: string): string
  isTicked(name: string): boolean
  /** All of them, as they were sent. */
  fields: readonly [string, string][]
}

const MAX_BYTES = 64 * 1024
const LIMITS = {
  maxBytes: MAX_BYTES,
  limit: null,
  maxStreamBytes: MAX_BYTES,
  timeoutMs: 30_000,
  // Too small to fill the memory with.
  take: () => undefined,
}

/** Throws `too_large` or `too_slow`. */
export async function readForm(exchange: Exchange): Promise<Form> {
  const bytes = await readBody(exchange, LIMITS)
  const fields = new URLSearchParams(new TextDecoder().decode(bytes))
  return {
    text: (name) => fields.get(name) ?? '',
    isTicked: (name) => fields.get(name) !== null,
    fields: [...fields],
  }
}
