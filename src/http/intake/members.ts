// The members of a request. Each has a TypeBox schema, which the reference shows, and reads the variants that
// clients send within the same limits.

import {
  type ArrayOptions,
  type IntegerOptions,
  type SchemaOptions,
  type StringOptions,
  type TSchema,
  Type,
} from 'typebox'
import { LANGUAGES, type Language, languageOf, MAX_TAG, PRIMARY_SUBTAGS } from '../../domain/language.ts'
import { MAX_RECIPIENTS_TEXT, parseRecipients, RECIPIENTS_PATTERN } from '../../domain/mail-address.ts'
import type { Problem, Problems } from '../../domain/problems.ts'
import { hasMoreBytes, hasMoreCharacters } from '../../text/text-length.ts'

/** Limits on the fields of a form and on the characters of a name. Known fields are fewer and shorter. */
export const MAX_FIELDS = 1000
export const MAX_FIELD_NAME = 200
/** An object as a client sent it. */
export type Wire = Record<string, unknown>

export type Table<Values> = {
  [Name in keyof Values]: BodyMember<Values[Name]>
}

export type Fields<Values> = ReturnType<typeof createFields<Values>>

export function createFields<Values>(table: Table<Values>, wire: Wire) {
  const problems: Problems = {}

  function blame(name: keyof Values & string, problem: Problem): null {
    problems[name] = [...(problems[name] ?? []), problem]
    return null
  }

  /** Returns null for a member that is missing, and for one that has a problem. */
  function read<Name extends keyof Values & string>(name: Name): Values[Name] | null {
    const value = wire[name]
    return isGiven(value) ? table[name].read(value, (problem) => blame(name, problem)) : null
  }

  return { problems, blame, read }
}

/** `""` and `null` mean "not given". */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

/** Re-exports TypeBox for the other rooms, so that its next major version changes one room only. */
export { type Static, type TProperties, type TSchema, Type } from 'typebox'

/** Notes a problem of a value, and returns null in place of the value. */
type Blame = (problem: Problem) => null

export type BodyMember<Value> = {
  schema: TSchema
  /**
   * Reads a value. Returns null if it is blank and that means "not given", or, after `blame`, if it is
   * invalid.
   */
  read: (value: unknown, blame: Blame) => Value | null
}

/** A member with any string. Other rules check its content. */
export function anyText(options: StringOptions): BodyMember<string> {
  return {
    schema: Type.String(options),
    read: (value, blame) => (typeof value === 'string' ? value : blame({ code: 'not_text' })),
  }
}

/** Well-formed Unicode of at most `maxLength` characters. */
export const text = (options: StringOptions) =>
  limitedText(options, { isLonger: hasMoreCharacters, code: 'too_long_characters' })

/** Well-formed Unicode of at most `maxLength` bytes of UTF-8, and so of at most as many characters. */
export const textOfBytes = (options: StringOptions) =>
  limitedText(options, { isLonger: hasMoreBytes, code: 'too_long_bytes' })

type Measure = {
  isLonger: (text: string, limit: number) => boolean
  code: 'too_long_characters' | 'too_long_bytes'
}

function limitedText(options: StringOptions, { isLonger, code }: Measure): BodyMember<string> {
  const limit = options.maxLength ?? Number.POSITIVE_INFINITY
  const read = (value: unknown, blame: Blame) => {
    if (typeof value !== 'string') return blame({ code: 'not_text' })
    if (isLonger(value, limit)) return blame({ code, limit })
    return value.isWellFormed() ? value : blame({ code: 'not_unicode' })
  }
  return { schema: Type.String(options), read }
}

/** The longest text that is read as a number or a boolean, with blanks around it. */
const MAX_WORD = 100

/** An integer, or its digits in a string: `"7"` is 7. Refuses a value out of range, never clamps it. */
export function integer(options: IntegerOptions & { minimum: number; maximum: number }): BodyMember<number> {
  const { minimum: min, maximum: max } = options
  const read = (value: unknown, blame: Blame) => {
    const isText = typeof value === 'string' && value.length <= MAX_WORD && /^\s*[+-]?\d+\s*$/.test(value)
    const number = isText ? Number(value) : value
    if (typeof number !== 'number' || !Number.isInteger(number)) return blame({ code: 'not_integer' })
    return number >= min && number <= max ? number : blame({ code: 'out_of_range', min, max })
  }
  return { schema: Type.Integer(options), read }
}

const BOOLEANS = new Map([
  ...['true', '1', 'on', 'yes', 'checked'].map((word) => [word, true] as const),
  ...['false', '0', 'off', 'no'].map((word) => [word, false] as const),
])

/** Defines a boolean: a JSON one, 1 or 0, or a word that forms send, such as `on`, in any letter case. */
export function boolean(options: SchemaOptions): BodyMember<boolean> {
  const read = (value: unknown, blame: Blame) => {
    if (typeof value === 'boolean') return value
    const isWord = typeof value === 'number' || (typeof value === 'string' && value.length <= MAX_WORD)
    const word = isWord ? String(value).trim().toLowerCase() : null
    if (word === '') return null
    return BOOLEANS.get(word ?? '') ?? blame({ code: 'not_boolean' })
  }
  return { schema: Type.Boolean(options), read }
}

/** A member with one of these words. */
export function oneOf<Word extends string>(known: readonly Word[], options: StringOptions): BodyMember<Word> {
  const problem = { code: 'unknown_kind', kinds: known.join(', ') } as const
  return {
    schema: Type.String({ enum: [...known], ...options }),
    read: (value, blame) => known.find((word) => word === value) ?? blame(problem),
  }
}

/** Returns the member with a further check of its values. */
export function refined<Given, Value>(
  { schema, read }: BodyMember<Given>,
  look: (given: Given, blame: Blame) => Value | null,
): BodyMember<Value> {
  const readFurther = (value: unknown, blame: Blame) => {
    const given = read(value, blame)
    return given === null ? null : look(given, blame)
  }
  return { schema, read: readFurther }
}

/**
 * A member with some of these words: a list, or a single word. Notes one problem however many words are
 * unknown.
 */
export function someOf<Word extends string>(
  known: readonly Word[],
  options: ArrayOptions,
): BodyMember<Word[]> {
  const { schema, read } = oneOf(known, {})
  return {
    schema: Type.Array(schema, { minItems: 1, ...options }),
    read: (value, blame) => {
      const given: readonly unknown[] = Array.isArray(value) ? value : [value]
      if (given.length === 0) return blame({ code: 'blank' })
      const isKnown = given.every((word) => read(word, blame) !== null)
      return isKnown ? known.filter((word) => given.includes(word)) : null
    },
  }
}

/** A member with e-mail addresses, separated by commas. */
export function mailAddresses(description: string): BodyMember<readonly string[]> {
  const schema = { maxLength: MAX_RECIPIENTS_TEXT, pattern: RECIPIENTS_PATTERN, description }
  return refined(anyText(schema), (given, blame) => {
    const parsed = parseRecipients(given)
    return 'problem' in parsed ? blame(parsed.problem) : parsed.recipients
  })
}

/** A member with a supported language, also given with a country: `de-AT` is `de`. */
export function mailLanguage(description: string): BodyMember<Language> {
  const read = (value: unknown, blame: Blame) => {
    const tag = typeof value === 'string' ? value.trim() : null
    return languageOf(tag) ?? blame({ code: 'unknown_kind', kinds: LANGUAGES.toSorted().join(', ') })
  }
  const pattern = `^(?:${PRIMARY_SUBTAGS.toSorted().join('|')})(?:[-_][A-Za-z0-9_-]*)?$`
  return { schema: Type.String({ pattern, maxLength: MAX_TAG, description }), read }
}

/** A member that refuses every value, for a feature that this server lacks. */
export function unavailable(
  code: 'unavailable' | 'unavailable_list',
  description: string,
): BodyMember<never> {
  return { schema: Type.String({ maxLength: 0, description }), read: (_, blame) => blame({ code }) }
}
