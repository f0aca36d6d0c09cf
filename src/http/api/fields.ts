// Values as clients send them, read liberally; what cannot be read is collected by field.

import type { FieldErrors } from '../../domain/errors.ts'

export type Wire = Record<string, unknown>

/** Reads members of one object and remembers what was wrong with each. */
export type Fields = ReturnType<typeof createFields>

const TRUE = new Set(['true', '1', 'on', 'yes', 'checked'])
const FALSE = new Set(['false', '0', 'off', 'no'])

export function createFields(wire: Wire) {
  const errors: FieldErrors = {}

  function blame(field: string, message: string): null {
    errors[field] = [...(errors[field] ?? []), message]
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
    if (typeof value !== 'string') return blame(field, 'must be a string')
    return value.isWellFormed() ? value : blame(field, 'is not valid Unicode text')
  }

  function shortText(field: string, maxCharacters: number): string {
    const value = text(field) ?? ''
    if ([...value].length > maxCharacters) blame(field, `is too long (at most ${maxCharacters} characters)`)
    return value
  }

  /** `"7"` is 7. What is out of range is refused, never replaced. */
  function integer(field: string, { min, max }: { min: number; max: number }): number | null {
    const value = given(field)
    if (value === null) return null
    const number = typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value) ? Number(value) : value
    if (typeof number !== 'number' || !Number.isInteger(number)) return blame(field, 'must be an integer')
    return number >= min && number <= max ? number : blame(field, `must be between ${min} and ${max}`)
  }

  function boolean(field: string): boolean | null {
    const value = given(field)
    if (value === null) return null
    const readable = typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number'
    const word = readable ? String(value).trim().toLowerCase() : null
    if (word === '') return null
    if (word !== null && TRUE.has(word)) return true
    return word !== null && FALSE.has(word) ? false : blame(field, 'must be true or false')
  }

  return { errors, blame, given, text, shortText, integer, boolean }
}
