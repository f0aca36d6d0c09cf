// The appearance of a server: its name, a contact, and the operator's notice. Each is one line of plain text.

import { hasMoreCharacters } from '../text/text-length.ts'
import type { Problem } from './problems.ts'

export const APPEARANCE_FIELDS = ['name', 'contact', 'notice'] as const

export type AppearanceField = (typeof APPEARANCE_FIELDS)[number]

/** A text is null if it is not set. */
export type Appearance = Record<AppearanceField, string | null>

/** The longest text of each field, in characters. */
export const MOST_OF_APPEARANCE = { name: 40, contact: 200, notice: 300 } as const

/** Control characters and direction marks. */
const INVISIBLE = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u

/** Returns the problem with a trimmed, non-empty text, or null. */
export function problemOfText(text: string, most: number): Problem | null {
  if (hasMoreCharacters(text, most)) return { code: 'too_long_characters', limit: most }
  if (INVISIBLE.test(text)) return { code: 'control_characters' }
  if (/<[a-z/!?]/i.test(text)) return { code: 'not_plain_text' }
  return null
}
