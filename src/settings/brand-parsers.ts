// Parsers for the operator's own texts and colour.

import { findColorProblem, parseColor } from '../domain/brand-color.ts'
import type { Parsed, Parser } from './parsers.ts'

/** Control characters, and those that change the direction of text. */
const INVISIBLE = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u

/** One line of plain text. The pages show it as it is. */
export function plainText(most: number): Parser<string> {
  return (text) => {
    const value = text.trim()
    const length = [...value].length
    if (length === 0) return { problem: 'must not be empty' }
    if (length > most) return { problem: `must have at most ${most} characters; it has ${length}` }
    if (INVISIBLE.test(value)) return { problem: 'must be one line without invisible characters' }
    if (/<[a-z/!?]/i.test(value))
      return { problem: 'must be plain text, because the pages show HTML as it is' }
    return { value }
  }
}

/** `#rrggbb`, readable on the light pages. */
export function brandColor(text: string): Parsed<string> {
  const value = parseColor(text)
  if (value === null) return { problem: 'must be a colour such as #24539b' }
  const found = findColorProblem(value)
  if (found === null) return { value }
  const { contrast, needed, better } = found
  // Rounded down, so that an insufficient contrast is never shown as sufficient.
  const ratio = (Math.floor(contrast * 100) / 100).toFixed(2)
  return {
    problem: `must have a contrast of at least ${needed}:1 with the light pages; it has ${ratio}:1, and ${better} would do`,
  }
}
