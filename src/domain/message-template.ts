// The message with which an account sends its secret links: a template with placeholders for the link, its
// expiry, its views and the name of the push, which names the recipient.

import { hasMoreCharacters } from '../text/text-length.ts'
import type { Problem } from './problems.ts'

export const MAX_MESSAGE_CHARACTERS = 2000

type MessageFacts = { link: string; expires: string; views: string; name: string }

/**
 * Fills in the placeholders. Other text in braces stays unchanged. Without a name, its placeholder is removed
 * with the blank before it.
 */
export function fillMessage(template: string, facts: MessageFacts): string {
  const fitting = facts.name === '' ? template.replace(/ ?\{name\}/g, '') : template
  return fitting.replace(/\{(link|expires|views|name)\}/g, (_, place: keyof MessageFacts) => facts[place])
}

/** Normalizes a template for storage: LF line ends, trimmed. '' means the standard message. */
export function tidyMessage(text: string): string {
  return text.replace(/\r\n?/g, '\n').trim()
}

/** Returns the problem with a normalized template, or null. */
export function problemOfMessage(template: string): Problem | null {
  if (hasMoreCharacters(template, MAX_MESSAGE_CHARACTERS))
    return { code: 'too_long_characters', limit: MAX_MESSAGE_CHARACTERS }
  if (!template.isWellFormed()) return { code: 'not_unicode' }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: searches for control characters
  if (/[\x00-\x08\x0b-\x1f\x7f]/.test(template)) return { code: 'control_characters' }
  return template.includes('{link}') ? null : { code: 'without_link' }
}
