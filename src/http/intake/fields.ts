// Values as clients send them, read liberally; what cannot be read is collected by field.

import type { Problem, Problems } from '../../domain/problems.ts'

export type Wire = Record<string, unknown>

/** Reads members of one object and remembers what was wrong with each. */
export type Fields = ReturnType<typeof createFields>

const TRUE = new Set(['true', '1', 'on', 'yes', 'checked'])
const FALSE = new Set(['false', '0', 'off', 'no'])

export function createFields(wire: Wire) {
  const problems: Problems = {}

  function blame(field: string, problem: Problem): null {
    problems[field] = [...(problems[field] ?? []), problem]
    return null
  }

  /** `""` and `null` mean "not given". */
  function given(field: string): unknown {
    const value = wire[field]
    return value === undefined || value === null || value === '' ? null : value
  }

  function text(field: string): string | null {
    const value = given(field)
    if (value === null) return null
    if (typeof value !== 'string') return blame(field, { code: 'not_text' })
    return value.isWellFormed() ? value : blame(field, { code: 'not_unicode' })
  }

  function shortText(field: string, maxCharacters: number): string {
    const value = text(field) ?? ''
    if ([...value].length > maxCharacters) blame(field, { code: 'too_long_characters', limit: maxCharacters })
    return value
  }

  /** `"7"` is 7. What is out of range is refused, never replaced. */
  function integer(field: string, { min, max }: { min: number; max: number }): number | null {
    const value = given(field)
    if (value === null) return null
    const number = typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value) ? Number(value) : value
    if (typeof number !== 'number' || !Number.isInteger(number)) return blame(field, { code: 'not_integer' })
    return number >= min && number <= max ? number : blame(field, { code: 'out_of_range', min, max })
  }

  function boolean(field: string): boolean | null {
    const value = given(field)
    if (value === null) return null
    const readable = typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number'
    const word = readable ? String(value).trim().toLowerCase() : null
    if (word === '') return null
    if (word !== null && TRUE.has(word)) return true
    return word !== null && FALSE.has(word) ? false : blame(field, { code: 'not_boolean' })
  }

  return { problems, blame, given, text, shortText, integer, boolean }
}
