// Bounds JSON before it is parsed, because JSON.parse takes seconds and gigabytes for a few megabytes of brackets.

/** `depth` counts objects and arrays within each other; `members` the members and elements of all of them together. */
export type JsonShape = { depth: number; members: number }

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [OPENS_ARRAY, CLOSES_ARRAY, OPENS_OBJECT, CLOSES_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]
const LAST_BLANK = 0x20
const MARKS = Uint8Array.from([QUOTE, COMMA, OPENS_ARRAY, CLOSES_ARRAY, OPENS_OBJECT, CLOSES_OBJECT])
const IS_MARK = Uint8Array.from({ length: 256 }, (_, byte) => Number(MARKS.includes(byte)))

/** Which limit a JSON text exceeds; null for none. Leaves malformed JSON to the parser. */
export function findExcess(json: Uint8Array, most: JsonShape): keyof JsonShape | null {
  let depth = 0
  let members = 0
  let isFirst = false
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at] ?? 0
    if (byte <= LAST_BLANK || (!isFirst && IS_MARK[byte] === 0)) continue
    const opens = byte === OPENS_OBJECT || byte === OPENS_ARRAY
    const closes = byte === CLOSES_OBJECT || byte === CLOSES_ARRAY
    if (byte === COMMA || (isFirst && !closes)) members += 1
    if (opens) depth += 1
    else if (closes) depth -= 1
    else if (byte === QUOTE) at = endOfText(json, at)
    isFirst = opens
    if (depth > most.depth) return 'depth'
    if (members > most.members) return 'members'
  }
  return null
}

function endOfText(json: Uint8Array, start: number): number {
  let at = start + 1
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1
  return at
}
