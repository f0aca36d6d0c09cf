// The message that hands a secret link over, as its sender writes it once: with places for what differs each time.

import type { Problem } from './problems.ts'

export const MAX_MESSAGE_CHARACTERS = 2000

export type MessageFacts = { link: string; expires: string; views: string }

/** Puts in what each place stands for. Any other text in braces stays as it is. */
export function fillMessage(template: string, facts: MessageFacts): string {
  return template.replace(/\{(link|expires|views)\}/g, (_, name: keyof MessageFacts) => facts[name])
}

/** As it is kept: one kind of line end, and no blanks around. '' stands for the standard message. */
export function tidyMessage(text: string): string {
  return text.replace(/\r\n?/g, '\n').trim()
}

/** The problem with a tidied template; null for a good one. */
export function problemOfMessage(template: string): Problem | null {
  if (!template.isWellFormed()) return { code: 'not_unicode' }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  if (/[\x00-\x08\x0b-\x1f\x7f]/.test(template)) return { code: 'control_characters' }
  if ([...template].length > MAX_MESSAGE_CHARACTERS)
    return { code: 'too_long_characters', limit: MAX_MESSAGE_CHARACTERS }
  return template.includes('{link}') ? null : { code: 'without_link' }
}
