// Recognises age ciphertext without decrypting it, which is all that a server can check of an end-to-end
// push.

/** The first line of an age file, with its line feed. */
export const AGE_INTRO = 'age-encryption.org/v1\n'

export function beginsAsAge(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, AGE_INTRO.length)).toString('latin1') === AGE_INTRO
}

const BEGIN = '-----BEGIN AGE ENCRYPTED FILE-----\n'
const END = '\n-----END AGE ENCRYPTED FILE-----'
/** A header: stanzas with their bodies, and a MAC (C2SP, age.md). */
const HEADER = /^(?:-> [!-~ ]+\n(?:[A-Za-z0-9+/]{64}\n)*[A-Za-z0-9+/]{0,63}\n)+--- [A-Za-z0-9+/]{43}\n/
/** Far more than dozens of recipients need. */
const MAX_HEADER_BYTES = 64 * 1024
/** The nonce of the content and its last chunk, which may be empty. */
const MIN_CONTENT_BYTES = 16 + 16

/**
 * Whether a text is one ASCII-armoured age file, spelled strictly, with LF or CRLF, and perhaps blanks around
 * it.
 */
export function isArmouredAge(text: string): boolean {
  const given = text.trim().replaceAll('\r\n', '\n')
  if (!given.startsWith(BEGIN) || !given.endsWith(END)) return false
  const body = given.slice(BEGIN.length, -END.length)
  const bytes = Buffer.from(body, 'base64')
  if (inLines(bytes.toString('base64')) !== body) return false
  const begin = bytes.toString('latin1', 0, MAX_HEADER_BYTES)
  const header = begin.startsWith(AGE_INTRO) ? HEADER.exec(begin.slice(AGE_INTRO.length)) : null
  return header !== null && bytes.length >= AGE_INTRO.length + header[0].length + MIN_CONTENT_BYTES
}

function inLines(base64: string): string {
  return base64.replace(/.{64}(?=.)/g, '$&\n')
}
