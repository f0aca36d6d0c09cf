// The shape of an opened text: which parts are masked, and what each copy button copies.

import { isSealedText } from '../../domain/age-recipient.ts'

/** `hidden`: looks like a password. `lines`: to be copied one by one. `prose`: to be read as a whole. */
type SecretShape = 'hidden' | 'lines' | 'prose'

/** A line split into label and value. The label is '' if the line has none. */
type SecretLine = { label: string; value: string; isPassword: boolean }

const MAX_HIDDEN_CHARACTERS = 200
/** A key or token has no spaces and may be long. */
const TOKEN = /^[\x21-\x7e]{1,4000}$/
/** A passphrase has at most seven words; a message seldom has fewer. */
const MAX_HIDDEN_WORDS = 7
/** Matches the end of a sentence after several words, or punctuation of languages written without spaces. */
const SENTENCE = /^\S*\s.*[.!?…؟](\s|$)|[。、\uff01\uff1f]/u
const MAX_LINES = 50
const MAX_LINE_CHARACTERS = 500

/** Returns the shape of a text. In doubt, hides a single line, because one press shows it. */
export function shapeOf(payload: string): SecretShape {
  if (payload.length > MAX_LINES * MAX_LINE_CHARACTERS || isSealedText(payload)) return 'prose'
  const lines = linesOf(payload).filter((line) => line.trim() !== '')
  if (lines.length <= 1) return isLikePassword(payload.trim()) ? 'hidden' : 'prose'
  const areShort = lines.every((line) => line.length <= MAX_LINE_CHARACTERS)
  return lines.length <= MAX_LINES && areShort ? 'lines' : 'prose'
}

export function linesOf(payload: string): string[] {
  return payload.split(/\r\n|\r|\n/)
}

function isLikePassword(line: string): boolean {
  if (TOKEN.test(line)) return true
  const words = line.split(/\s+/).length
  return line.length <= MAX_HIDDEN_CHARACTERS && words <= MAX_HIDDEN_WORDS && !SENTENCE.test(line)
}

/**
 * Matches `User name: ann` and `TOKEN=x`, but not `https://…`, `at 14:30` or the last line of a key, `x9Q==`.
 */
const LABEL =
  /^\s*(?:\p{L}[\p{L}\p{M}\p{N} ._/()-]{0,39}?\s*[:\uff1a]\s+|[\p{L}_][\w.-]{0,39}\s*=\s*(?!=))(?=\S)/u

/** Matches `password`, `Passphrase`, `mot de passe`, `PIN` and the like, in the languages of the pages. */
const PASSWORD_LABEL = /pass|kennwort|contraseña|clave|\bpin\b|pwd|パスワード|暗証|كلمة (المرور|السر)/iu

/** Splits a line into label and value, so that the value can be copied without the label. */
export function splitLine(line: string): SecretLine {
  const label = LABEL.exec(line)?.[0] ?? ''
  return { label, value: line.slice(label.length), isPassword: PASSWORD_LABEL.test(label) }
}
