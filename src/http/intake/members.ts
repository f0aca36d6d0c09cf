// The members of a request. Each has a TypeBox schema, which the reference shows and which holds the limits, and a coercion,
// which reads liberally what clients send.

import type { Static, TBoolean, TInteger, TSchema, TString } from '@sinclair/typebox'
import type { Problem, Problems } from '../../domain/problems.ts'
import { hasMoreBytes, hasMoreCharacters } from '../../domain/text-length.ts'

/** The most fields of a form, and characters of the name of one. Those that are read are fewer and shorter. */
export const MAX_FIELDS = 1000
export const MAX_FIELD_NAME = 200
/** An object as a client sent it. */

export type Wire = Record<string, unknown>

export type Table<Values> = {
  [Name in keyof Values]: Member<Values[Name]>
}

export type Fields<Values> = {
  problems: Problems
  blame(name: keyof Values & string, problem: Problem): null
  /** Null for a member that was not given, and for one that has a problem. */
  read<Name extends keyof Values & string>(name: Name): Values[Name] | null
}

export function createFields<Values>(table: Table<Values>, wire: Wire): Fields<Values> {
  const problems: Problems = {}

  function blame(name: string, problem: Problem): null {
    problems[name] = [...(problems[name] ?? []), problem]
    return null
  }

  return {
    problems,
    blame,
    read: (name) => {
      const value = wire[name]
      return isGiven(value) ? table[name].read(value, (problem) => blame(name, problem)) : null
    },
  }
}

/** `""` and `null` mean "not given". */

export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

/** The only room that names the library, so that its next major version is a change to one room. */
export { type Static, type TProperties, type TSchema, Type } from '@sinclair/typebox'

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
  const isTooLong = typeof value === 'string' && limit !== undefined && hasMoreCharacters(value, limit)
  return isTooLong ? blame({ code: 'too_long_characters', limit }) : readText(value, blame)
}

/** Well-formed Unicode of at most `maxLength` bytes of UTF-8, and so of at most as many characters. */
export const asTextOfBytes: Coercion<TString> = (value, { maxLength: limit = 0 }, blame) => {
  const isTooLong = typeof value === 'string' && hasMoreBytes(value, limit)
  return isTooLong ? blame({ code: 'too_long_bytes', limit }) : readText(value, blame)
}

/** More characters than a number or a word of `BOOLEANS` has, with blanks around it. */
const MAX_WORD = 100

/** An integer, or its digits in a string: `"7"` is 7. Refuses a value out of range, never clamps it. */
export const asInteger: Coercion<TInteger> = (value, { minimum: min = 0, maximum: max = 0 }, blame) => {
  const isNumber = typeof value === 'string' && value.length <= MAX_WORD && /^\s*[+-]?\d+\s*$/.test(value)
  const number = isNumber ? Number(value) : value
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
  const isWord = typeof value === 'number' || (typeof value === 'string' && value.length <= MAX_WORD)
  const word = isWord ? String(value).trim().toLowerCase() : null
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
