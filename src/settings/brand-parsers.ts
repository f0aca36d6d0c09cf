// Parsers for the operator's own texts and colour.

import { problemOfText } from '../domain/appearance.ts'
import { findColorProblem, parseColor } from '../text/brand-color.ts'
import type { Parsed, Parser } from './parsers.ts'

/** Parses one line of plain text, which the pages show unchanged. */
export function plainText(most: number): Parser<string> {
  return (text) => {
    const value = text.trim()
    if (value === '') return { problem: 'must not be empty' }
    switch (problemOfText(value, most)?.code) {
      case undefined:
        return { value }
      case 'too_long_characters':
        return { problem: `must have at most ${most} characters; it has ${[...value].length}` }
      case 'control_characters':
        return { problem: 'must be one line without invisible characters' }
      default:
        return { problem: 'must be plain text, because the pages do not render HTML' }
    }
  }
}

/** Parses a colour to `#rrggbb`. Refuses one with too little contrast on the light pages. */
export function brandColor(text: string): Parsed<string> {
  const value = parseColor(text)
  if (value === null) return { problem: 'must be a colour such as #24539b' }
  const found = findColorProblem(value)
  if (found === null) return { value }
  const { contrast, needed, better } = found
  // Round down, so that an insufficient contrast is never shown as sufficient.
  const ratio = (Math.floor(contrast * 100) / 100).toFixed(2)
  return {
    problem: `must have a contrast of at least ${needed}:1 with the light pages; it has ${ratio}:1, and ${better} would do`,
  }
}
