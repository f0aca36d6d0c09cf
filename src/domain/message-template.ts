// The message with which an account sends its secret links: a template with places for the link, its expiry and its views.

import type { Problem } from './problems.ts'
import { hasMoreCharacters } from './text-length.ts'

export const MAX_MESSAGE_CHARACTERS = 2000

export type MessageFacts = { link: string; expires: string; views: string }

/** Fills the places in. Any other text in braces stays as it is. */
export function fillMessage(template: string, facts: MessageFacts): string {
  return template.replace(/\{(link|expires|views)\}/g, (_, name: keyof MessageFacts) => facts[name])
}

/** The text as it is stored: LF line ends, no blanks around it. '' means the standard message. */
export function tidyMessage(text: string): string {
  return text.replace(/\r\n?/g, '\n').trim()
}

/** The problem with a tidied template; null for a good one. */
export function problemOfMessage(template: string): Problem | null {
  if (hasMoreCharacters(template, MAX_MESSAGE_CHARACTERS))
    return { code: 'too_long_characters', limit: MAX_MESSAGE_CHARACTERS }
  if (!template.isWellFormed()) return { code: 'not_unicode' }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: searches for control characters
  if (/[\x00-\x08\x0b-\x1f\x7f]/.test(template)) return { code: 'control_characters' }
  return template.includes('{link}') ? null : { code: 'without_link' }
}
