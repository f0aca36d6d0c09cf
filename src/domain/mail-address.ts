// Mail addresses and the mail server. The pattern admits no character that could inject an SMTP command or a
// header.

import type { Problem } from './problems.ts'

export type MailAddress = { name: string; address: string }

/**
 * The mail server. `isTls`: implicit TLS; false requires STARTTLS before login. `ca`: a PEM file to verify it
 * with.
 */
export type MailServer = {
  host: string
  port: number
  isTls: boolean
  login: { user: string; pass: string } | null
  ca: string | null
}

export const MAX_RECIPIENTS = 5
/** RFC 5321 limits a path to 256 characters, brackets included. */
const MAX_ADDRESS = 254
/** The longest list of recipients, with blanks and commas. */
export const MAX_RECIPIENTS_TEXT = MAX_RECIPIENTS * (MAX_ADDRESS + 2)

/**
 * Excludes quoted strings, groups, comments, lists and address literals (RFC 5322, 3.4), so that nothing has
 * to be escaped. Also excludes `!` and `%`, once used for source routes, and `?`, which encoded words need
 * (RFC 2047).
 */
const LOCAL = /^[a-z\d.#$&'*+/=^_`{|}~-]{1,64}$/i
const LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u

/**
 * Whether mail can be sent to an address. Stricter than `parseEmail`: an account's address need not be
 * deliverable.
 */
export function isMailAddress(text: string): boolean {
  if (text.length > MAX_ADDRESS) return false
  const [local = '', domain = '', ...more] = text.split('@')
  const isLocal = LOCAL.test(local) && local.split('.').every((part) => part !== '')
  return more.length === 0 && isLocal && domain.split('.').every((label) => LABEL.test(label))
}

/** The same as a pattern of JSON Schema, in which every non-ASCII character counts as a letter. */
const ATOM = "[A-Za-z0-9#$&'*+/=^_`{|}~-]+"
const PART = '[A-Za-z0-9\\u0080-\\uffff](?:[A-Za-z0-9\\u0080-\\uffff-]{0,61}[A-Za-z0-9\\u0080-\\uffff])?'
const ADDRESS = `(?=[^@]{1,64}@[^\\s,]{1,189}(?:[\\s,]|$))${ATOM}(?:\\.${ATOM})*@${PART}(?:\\.${PART})*`
export const RECIPIENTS_PATTERN = `^[\\s,]*${ADDRESS}(?:\\s*,[\\s,]*${ADDRESS}){0,${MAX_RECIPIENTS - 1}}[\\s,]*$`

/** Parses addresses separated by commas, and drops duplicates. */
export function parseRecipients(text: string): { recipients: string[] } | { problem: Problem } {
  if (text.length > MAX_RECIPIENTS_TEXT)
    return { problem: { code: 'too_long_characters', limit: MAX_RECIPIENTS_TEXT } }
  const given = text.split(',').map((part) => part.trim())
  const recipients = [...new Set(given.filter((part) => part !== ''))]
  if (recipients.length > MAX_RECIPIENTS)
    return { problem: { code: 'too_many_recipients', limit: MAX_RECIPIENTS } }
  return recipients.every(isMailAddress) ? { recipients } : { problem: { code: 'not_emails' } }
}
