// How a server introduces itself: its name, whom to ask, and what its operator announces. One line of plain
// text each.

import { hasMoreCharacters } from '../text/text-length.ts'
import type { Problem } from './problems.ts'

export const APPEARANCE_FIELDS = ['name', 'contact', 'notice'] as const

export type AppearanceField = (typeof APPEARANCE_FIELDS)[number]

/** Null: there is none. */
export type Appearance = Record<AppearanceField, string | null>

/** Characters. */
export const MOST_OF_APPEARANCE = { name: 40, contact: 200, notice: 300 } as const

/** Control characters, and those that change the direction of text. */
const INVISIBLE = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u

/** What is wrong with a text that is not empty and has no spaces at its ends. */
export function problemOfText(text: string, most: number): Problem | null {
  if (hasMoreCharacters(text, most)) return { code: 'too_long_characters', limit: most }
  if (INVISIBLE.test(text)) return { code: 'control_characters' }
  if (/<[a-z/!?]/i.test(text)) return { code: 'not_plain_text' }
  return null
}
