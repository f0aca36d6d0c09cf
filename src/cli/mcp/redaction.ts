// Redacts a secret from the output of a command, in the encodings that programs commonly print. Cannot find
// what a program computes from the secret. A stranger may have written both, so the time must be linear in
// their length: decodes the output once per encoding, and searches for the plain secret.

/** Shorter secrets occur by chance, and searching for longer ones would take too long. */
export const MIN_HIDDEN_CHARACTERS = 8
export const MAX_HIDDEN_CHARACTERS = 4096

const HIDDEN = '[secret]'

/** A decoded text. Character `n` of it stood at `from[n]` to `to[n]` in the output. */
type DecodedText = { text: string; from: number[]; to: number[] }

/** Returns the output without the secret and its lines. Both are the bytes as Latin-1. */
export function hideSecret(output: string, secret: string): string {
  // Do not use trim(), which would also remove bytes of letters.
  const trim = (text: string) => text.replace(/^[ \t\r\n]+/, '').replace(/(?<![ \t\r\n])[ \t\r\n]+$/, '')
  const lines = secret.split(/[\r\n]+/).filter(({ length }) => length >= MIN_HIDDEN_CHARACTERS)
  const needles = [...new Set([trim(secret), ...lines.map(trim)])].filter((text) => text !== '')
  const shown = plain(output)
  const levels = unescapedLevels(shown)
  const spans = [
    ...levels.flatMap((level) => spansOf(lowered(level), needles.flatMap(spellings))),
    ...levels.slice(0, 2).flatMap((level) => {
      const [hex, base64] = [lowered(reread(level, ...HEX)), reread(level, ...BASE64)]
      return [...spansOf(hex, needles.map(hexOf)), ...spansOf(base64, needles.flatMap(base64Forms), /[\w+/]/)]
    }),
  ]
  return withoutSpans(shown, spans)
}

/** Removes colours, with which `grep` splits a match, and the zero bytes of UTF-16. */
function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control sequences of terminals.
  return text.replace(/\x1b\[[0-9;]*[A-Za-z]|\0/g, '')
}

type Decode = (found: RegExpExecArray) => string

/** Decodes each match of `token`. The matches must cover the whole text. */
function reread({ text, ...at }: DecodedText, token: RegExp, decode: Decode): DecodedText {
  const reading: DecodedText = { text: '', from: [], to: [] }
  for (const found of text.matchAll(token)) {
    const decoded = decode(found)
    reading.text += decoded
    for (let n = 0; n < decoded.length; n += 1) {
      reading.from.push(at.from[found.index] ?? 0)
      reading.to.push(at.to[found.index + found[0].length - 1] ?? 0)
    }
  }
  return reading
}

const lowered = ({ text, ...at }: DecodedText): DecodedText => ({ text: text.toLowerCase(), ...at })

/** Programs escape text that is already escaped, such as JSON within a URL. */
const MAX_ESCAPES = 3

/** Returns the text as it stands, and with its escapes decoded once and more often. */
function unescapedLevels(text: string): DecodedText[] {
  const places = Array.from({ length: text.length }, (_, n) => n)
  const levels = [{ text, from: places, to: places.map((n) => n + 1) }]
  for (let level = levels[0]; level !== undefined && levels.length <= MAX_ESCAPES; ) {
    const next = reread(level, ESCAPES, unescaped)
    level = next.text === level.text ? undefined : next
    if (level !== undefined) levels.push(level)
  }
  return levels
}

/** The escapes of URLs, JSON, shells and HTML. */
const ESCAPES =
  /\\+(?:u(d[89ab][0-9a-f]{2})\\+u(d[c-f][0-9a-f]{2})|u([0-9a-f]{4})|x([0-9a-f]{2})|([nrtfb])|)|%(?:25)*([0-9a-f]{2})|&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(amp|lt|gt|quot|apos));|./gis

const NAMED: Record<string, string> = {
  ...{ n: '\n', r: '\r', t: '\t', f: '\f', b: '\b' },
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" },
}

const unescaped: Decode = ([whole, high, low, unit, x, control, percent, decimal, hex, entity]) => {
  const named = NAMED[(control ?? entity ?? '').toLowerCase()]
  if (named !== undefined) return named
  const byte = x ?? percent
  if (byte !== undefined) return String.fromCharCode(Number.parseInt(byte, 16))
  if (high !== undefined && low !== undefined)
    return bytesOf(String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16)))
  const given = unit ?? hex
  const point = given === undefined ? Number(decimal ?? Number.NaN) : Number.parseInt(given, 16)
  if (point <= 0x10ffff) return bytesOf(String.fromCodePoint(point))
  if (whole.startsWith('\\')) return ''
  return whole === '+' ? ' ' : whole
}

const bytesOf = (text: string): string => Buffer.from(text).toString('latin1')

/** A needle of which unescaping left little would match by chance. */
const MIN_SPELLING = 4

/** Returns the needle in its own spelling, and in the one that it has after the output was unescaped. */
function spellings(needle: string): string[] {
  return unescapedLevels(plain(needle) || needle)
    .map(({ text }) => text.toLowerCase())
    .filter(({ length }, level) => level === 0 || length >= MIN_SPELLING)
}

const hexOf = (needle: string): string => Buffer.from(needle, 'latin1').toString('hex')

/** Drops the separators between the bytes of a hex dump. */
const HEX: [RegExp, Decode] = [
  /0x|\\+x?|[\s:,-]+|./gis,
  ([whole]) => (/^[0-9a-z]$/i.test(whole) ? whole : ''),
]

/** Drops line breaks, and converts the base64url alphabet to that of base64. */
const BASE64: [RegExp, Decode] = [
  /\\+[nr]?|./gs,
  ([whole]) => (/^[\s\\]/.test(whole) ? '' : whole === '-' ? '+' : whole === '_' ? '/' : whole),
]

/**
 * Returns three forms, because in a longer text, such as user:password, the secret may begin at any of the
 * three positions of a base64 group.
 */
function base64Forms(needle: string): string[] {
  const bytes = Buffer.from(needle, 'latin1')
  return [0, 1, 2].map((shift) => {
    const whole = Buffer.concat([Buffer.alloc(shift), bytes])
    // Leaves out characters that also encode the bytes before or after.
    return whole.toString('base64').slice(Math.ceil((shift * 8) / 6), Math.floor((whole.length * 8) / 6))
  })
}

type Span = [from: number, to: number]

/**
 * Finds the needles. Includes an adjacent character that matches `beside`, because it encodes a part of the
 * needle.
 */
function spansOf({ text, from, to }: DecodedText, needles: readonly string[], beside?: RegExp): Span[] {
  const isBeside = (at: number, other: number) =>
    beside?.test(text[at] ?? '') === true && to[Math.min(at, other)] === from[Math.max(at, other)]
  const spans: Span[] = []
  for (const needle of new Set(needles))
    for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + 1)) {
      const first = isBeside(at - 1, at) ? at - 1 : at
      let last = at + needle.length - 1
      if (isBeside(last + 1, last)) last += 1
      while (beside !== undefined && text[last + 1] === '=') last += 1
      spans.push([from[first] ?? 0, to[last] ?? 0])
    }
  return spans
}

function withoutSpans(text: string, spans: readonly Span[]): string {
  let shown = ''
  let end = 0
  let isFirst = true
  for (const [from, to] of spans.toSorted(([one], [other]) => one - other)) {
    if (isFirst || from >= end) shown += `${text.slice(end, from)}${HIDDEN}`
    isFirst = false
    end = Math.max(end, to)
  }
  return shown + text.slice(end)
}
