// Bounds JSON before it is parsed, because JSON.parse takes seconds and gigabytes for a few megabytes of
// brackets.
//
// Patterns find the marks: they run as machine code from the first body on. A loop over the bytes of six
// megabytes holds all other requests for 140 ms until it is compiled.

/**
 * `depth` counts objects and arrays within each other; `members` the members and elements of all of them
 * together.
 */
export type JsonShape = { depth: number; members: number }

const MARK = /["[\]{},]/g
const CLOSERS = ']}'
const BLANKS = /\s*/y
/** The group stands at the end, so that the engine keeps no place to go back to for each character. */
const REST_OF_TEXT = /(?:[^"\\]|\\.)*/sy

/**
 * Which limit a JSON text exceeds; null for none. Leaves malformed JSON to the parser, and texts that are too
 * short to have so many members: parsing them takes no time, however deep they are.
 */
export function findExcess(json: string, most: JsonShape): keyof JsonShape | null {
  if (json.length <= most.members) return null
  let depth = 0
  let members = 0
  MARK.lastIndex = 0
  // Each member has at most a name, a text or two brackets, and a comma. Among more marks the parser finds a
  // mistake early.
  for (let left = 5 * (most.members + 1); left > 0 && MARK.test(json); left -= 1) {
    const next = MARK.lastIndex
    const mark = json.charAt(next - 1)
    if (mark === '"') MARK.lastIndex = endOf(REST_OF_TEXT, json, next) + 1
    else if (mark === ',') members += 1
    else if (CLOSERS.includes(mark)) depth -= 1
    else {
      depth += 1
      if (!CLOSERS.includes(json.charAt(endOf(BLANKS, json, next)))) members += 1
    }
    if (depth > most.depth) return 'depth'
    if (members > most.members) return 'members'
  }
  return null
}

/** Where a match ends that begins at this place; the patterns also match nothing. */
function endOf(pattern: RegExp, json: string, start: number): number {
  pattern.lastIndex = start
  pattern.test(json)
  return pattern.lastIndex
}
