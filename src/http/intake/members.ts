// The members of a request. Each has a TypeBox schema, which the reference shows, and reads liberally what
// clients send within the same limits.

import {
  type ArrayOptions,
  type IntegerOptions,
  type SchemaOptions,
  type StringOptions,
  type TSchema,
  Type,
} from 'typebox'
import { LANGUAGES, type Language, languageOf } from '../../domain/language.ts'
import { MAX_RECIPIENTS_TEXT, parseRecipients, RECIPIENTS_PATTERN } from '../../domain/mail-address.ts'
import type { Problem, Problems } from '../../domain/problems.ts'
import { hasMoreBytes, hasMoreCharacters } from '../../text/text-length.ts'

/**
 * The most fields of a form, and characters of the name of one. Those that are read are fewer and shorter.
 */
export const MAX_FIELDS = 1000
export const MAX_FIELD_NAME = 200
/** An object as a client sent it. */
export type Wire = Record<string, unknown>

export type Table<Values> = {
  [Name in keyof Values]: Member<Values[Name]>
}

export type Fields<Values> = ReturnType<typeof createFields<Values>>

export function createFields<Values>(table: Table<Values>, wire: Wire) {
  const problems: Problems = {}

  function blame(name: keyof Values & string, problem: Problem): null {
    problems[name] = [...(problems[name] ?? []), problem]
    return null
  }

  /** Null for a member that was not given, and for one that has a problem. */
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

/** The only room that names the library, so that its next major version is a change to one room. */
export { type Static, type TProperties, type TSchema, Type } from 'typebox'

/** Notes what is wrong with a value, and returns null in its place. */
export type Blame = (problem: Problem) => null

export type Member<Value> = {
  schema: TSchema
  /**
   * Reads a value that was given. Returns null for an invalid value, after `blame`, and for a blank without
   * meaning.
   */
  read: (value: unknown, blame: Blame) => Value | null
}

/** Any string. Other rules check its content. */
export function anyText(options: StringOptions): Member<string> {
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

function limitedText(options: StringOptions, { isLonger, code }: Measure): Member<string> {
  const limit = options.maxLength ?? Number.POSITIVE_INFINITY
  const read = (value: unknown, blame: Blame) => {
    if (typeof value !== 'string') return blame({ code: 'not_text' })
    if (isLonger(value, limit)) return blame({ code, limit })
    return value.isWellFormed() ? value : blame({ code: 'not_unicode' })
  }
  return { schema: Type.String(options), read }
}

/** More characters than a number or a word of `BOOLEANS` has, with blanks around it. */
const MAX_WORD = 100

type RangeOptions = IntegerOptions & { minimum: number; maximum: number }

/** An integer, or its digits in a string: `"7"` is 7. Refuses a value out of range, never clamps it. */
export function integer(options: RangeOptions): Member<number> {
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

/** A boolean, 1 or 0, or one of the words that forms send, such as `on`, in any letter case. */
export function boolean(options: SchemaOptions): Member<boolean> {
  const read = (value: unknown, blame: Blame) => {
    if (typeof value === 'boolean') return value
    const isWord = typeof value === 'number' || (typeof value === 'string' && value.length <= MAX_WORD)
    const word = isWord ? String(value).trim().toLowerCase() : null
    if (word === '') return null
    return BOOLEANS.get(word ?? '') ?? blame({ code: 'not_boolean' })
  }
  return { schema: Type.Boolean(options), read }
}

/** One of these words. */
export function oneOf<Word extends string>(known: readonly Word[], options: StringOptions): Member<Word> {
  const problem = { code: 'unknown_kind', kinds: known.join(', ') } as const
  return {
    schema: Type.String({ enum: [...known], ...options }),
    read: (value, blame) => known.find((word) => word === value) ?? blame(problem),
  }
}

/** The same member, whose values are looked at further. */
export function refined<Given, Value>(
  { schema, read }: Member<Given>,
  look: (given: Given, blame: Blame) => Value | null,
): Member<Value> {
  const readFurther = (value: unknown, blame: Blame) => {
    const given = read(value, blame)
    return given === null ? null : look(given, blame)
  }
  return { schema, read: readFurther }
}

/** Some of these words: a list, or one alone. Tells once that a word is unknown, however many are. */
export function someOf<Word extends string>(known: readonly Word[], options: ArrayOptions): Member<Word[]> {
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

/** Addresses for mail, separated by commas. */
export function mailAddresses(description: string): Member<readonly string[]> {
  const schema = { maxLength: MAX_RECIPIENTS_TEXT, pattern: RECIPIENTS_PATTERN, description }
  return refined(anyText(schema), (given, blame) => {
    const parsed = parseRecipients(given)
    return 'problem' in parsed ? blame(parsed.problem) : parsed.recipients
  })
}

/** A language of pages and mails, also with a country: `de-AT` is `de`. */
export function mailLanguage(description: string): Member<Language> {
  const read = (value: unknown, blame: Blame) => {
    const tag = typeof value === 'string' && value.length <= MAX_WORD ? value.trim().replace('_', '-') : null
    return languageOf(tag) ?? blame({ code: 'unknown_kind', kinds: LANGUAGES.join(', ') })
  }
  const pattern = `^(?:${LANGUAGES.join('|')})(?:[-_][A-Za-z0-9_-]*)?$`
  return { schema: Type.String({ pattern, maxLength: MAX_WORD, description }), read }
}

/** Refuses every value, for a feature that this server lacks. */
export function unavailable(code: 'unavailable' | 'unavailable_list', description: string): Member<never> {
  return { schema: Type.String({ maxLength: 0, description }), read: (_, blame) => blame({ code }) }
}
