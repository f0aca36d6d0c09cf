// The members of a request. Each has a TypeBox schema, which the reference shows and which holds the limits, and a coercion,
// which reads liberally what clients send.

import type { Static, TBoolean, TInteger, TSchema, TString } from '@sinclair/typebox'
import type { Problem } from '../../domain/problems.ts'

/** Notes what is wrong with a value, and returns null in its place. */
export type Blame = (problem: Problem) => null

/** Reads a value that was given. Returns null for an invalid value, after `blame`, and for a blank without meaning. */
export type Coercion<S extends TSchema, Value = Static<S>> = (
  value: unknown,
  schema: S,
  blame: Blame,
) => Value | null

export type Member<Value> = { schema: TSchema; read: (value: unknown, blame: Blame) => Value | null }

export function member<S extends TSchema, Value>(schema: S, coerce: Coercion<S, Value>): Member<Value> {
  return { schema, read: (value, blame) => coerce(value, schema, blame) }
}

/** Any string. Other rules check its content. */
export const asString: Coercion<TString> = (value, _, blame) =>
  typeof value === 'string' ? value : blame({ code: 'not_text' })

/** Well-formed Unicode of at most `maxLength` characters. */
export const asText: Coercion<TString> = (value, { maxLength: limit }, blame) => {
  const text = readText(value, blame)
  if (text === null || limit === undefined || text.length <= limit) return text
  return [...text].length > limit ? blame({ code: 'too_long_characters', limit }) : text
}

/** Well-formed Unicode of at most `maxLength` bytes of UTF-8, and so of at most as many characters. */
export const asTextOfBytes: Coercion<TString> = (value, { maxLength: limit = 0 }, blame) => {
  const text = readText(value, blame)
  const isTooLong = text !== null && Buffer.byteLength(text) > limit
  return isTooLong ? blame({ code: 'too_long_bytes', limit }) : text
}

/** An integer, or its digits in a string: `"7"` is 7. Refuses a value out of range, never clamps it. */
export const asInteger: Coercion<TInteger> = (value, { minimum: min = 0, maximum: max = 0 }, blame) => {
  const number = typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value) ? Number(value) : value
  if (typeof number !== 'number' || !Number.isInteger(number)) return blame({ code: 'not_integer' })
  return number >= min && number <= max ? number : blame({ code: 'out_of_range', min, max })
}

const BOOLEANS = new Map([
  ...['true', '1', 'on', 'yes', 'checked'].map((word) => [word, true] as const),
  ...['false', '0', 'off', 'no'].map((word) => [word, false] as const),
])

/** A boolean, 1 or 0, or one of the words that forms send, such as `on`, in any letter case. */
export const asBoolean: Coercion<TBoolean> = (value, _, blame) => {
  if (typeof value === 'boolean') return value
  const word =
    typeof value === 'string' || typeof value === 'number' ? String(value).trim().toLowerCase() : null
  if (word === '') return null
  return BOOLEANS.get(word ?? '') ?? blame({ code: 'not_boolean' })
}

/** Refuses every value, for a feature that this server lacks. */
export function asUnavailable(code: 'unavailable' | 'unavailable_list'): Coercion<TString> {
  return (_value, _schema, blame) => blame({ code })
}

function readText(value: unknown, blame: Blame): string | null {
  if (typeof value !== 'string') return blame({ code: 'not_text' })
  return value.isWellFormed() ? value : blame({ code: 'not_unicode' })
}
