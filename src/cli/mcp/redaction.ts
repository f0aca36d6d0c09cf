// Hides a secret in the output of a command, in the codings that programs commonly print. It cannot hide what
// a program computes from the secret.

/** Shorter secrets occur by chance, and longer ones would take too long to look for. */
export const MIN_HIDDEN_CHARACTERS = 8
export const MAX_HIDDEN_CHARACTERS = 4096

const HIDDEN = '[secret]'

/** Returns the output without the secret and its lines. Both are the bytes as Latin-1. */
export function hideSecret(output: string, secret: string): string {
  // trim() would also remove bytes of letters.
  const trim = (text: string) => text.replace(/^[ \t\r\n]+/, '').replace(/(?<![ \t\r\n])[ \t\r\n]+$/, '')
  const lines = secret.split(/[\r\n]+/).filter(({ length }) => length >= MIN_HIDDEN_CHARACTERS)
  const needles = [...new Set([trim(secret), ...lines.map(trim)])].filter((text) => text !== '')
  const codings = needles.flatMap((needle) => [
    escapedForms(needle),
    hexForms(needle),
    ...base64Forms(needle),
  ])
  return codings.reduce((text, coding) => text.replace(new RegExp(coding, 'gi'), HIDDEN), plain(output))
}

/** A search that colours its hits divides them; UTF-16 has a zero byte beside each letter. */
function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control sequences of terminals.
  return text.replace(/\x1b\[[0-9;]*[A-Za-z]|\0/g, '')
}

const hexOf = (byte: number) => byte.toString(16).padStart(2, '0')
const literal = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')

/** Each character plain, or escaped as in URLs, JSON, shells and HTML, also repeatedly. */
function escapedForms(needle: string): string {
  const text = Buffer.from(plain(needle) || needle, 'latin1').toString('utf8')
  return [...text].map(escapesOf).join('')
}

const NAMED: Record<string, string> = {
  ...{ '\n': '\\\\+n', '\r': '\\\\+r', '\t': '\\\\+t', '\f': '\\\\+f', '\b': '\\\\+b', ' ': '\\+' },
  ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' },
}

function escapesOf(character: string): string {
  const bytes = [...Buffer.from(character)]
  const raw = Buffer.from(character).toString('latin1')
  const units = character.split('').map((unit) => `\\\\+u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  const point = character.codePointAt(0) ?? 0
  const forms = [
    `\\\\*${literal(raw)}`,
    bytes.map((byte) => `(?:%(?:25)*|\\\\+x)${hexOf(byte)}`).join(''),
    units.join(''),
    `&#(?:0*${point}|x0*${point.toString(16)});`,
    ...(NAMED[character] === undefined ? [] : [NAMED[character]]),
  ]
  return `(?:${forms.join('|')})`
}

function hexForms(needle: string): string {
  return [...Buffer.from(needle, 'latin1')].map((byte) => `(?:\\\\+x|0x)?${hexOf(byte)}`).join('[\\s:,-]*')
}

/**
 * Returns three forms, because the secret may begin at any of three places of a longer text, such as
 * user:password.
 */
function base64Forms(needle: string): string[] {
  const bytes = Buffer.from(needle, 'latin1')
  return [0, 1, 2].map((shift) => {
    const whole = Buffer.concat([Buffer.alloc(shift), bytes])
    // Leaves out characters that also encode the bytes before or after.
    const sure = whole
      .toString('base64')
      .slice(Math.ceil((shift * 8) / 6), Math.floor((whole.length * 8) / 6))
    const characters = [...sure].map((one) => (one === '+' ? '[+-]' : one === '/' ? '[/_]' : one))
    return `[\\w+/-]?${characters.join('(?:\\s|\\\\+[nr])*')}[\\w+/-]?=*`
  })
}
