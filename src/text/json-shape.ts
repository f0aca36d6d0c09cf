// Bounds JSON before it is parsed, because JSON.parse takes seconds and gigabytes for a few megabytes of
// brackets.
//
// Uses regular expressions, which are machine code from the first body on. A loop over six megabytes would
// block all other requests for 140 ms until it is compiled.

/**
 * `depth`: how deep objects and arrays are nested. `members`: the number of members and elements in all of
 * them together.
 */
type JsonShape = { depth: number; members: number }

const MARK = /["[\]{},]/g
const CLOSERS = ']}'
const BLANKS = /\s*/y
/** End with the group, so that the engine stores no backtracking position for each character. */
const REST_OF_TEXT = /(?:[^"\\]|\\.)*/sy

/**
 * Returns the limit that a JSON text exceeds, or null. Leaves malformed JSON to the parser. Does not check
 * texts that are too short to exceed the limit on members: they parse quickly, however deep they are.
 */
export function findExcess(json: string, most: JsonShape): keyof JsonShape | null {
  if (json.length <= most.members) return null
  let depth = 0
  let members = 0
  MARK.lastIndex = 0
  // A member has at most a name, a text or two brackets, and a comma. If there are more marks than that, the
  // parser finds a mistake early.
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

/** Returns where the match at this position ends; the patterns may match the empty string. */
function endOf(pattern: RegExp, json: string, start: number): number {
  pattern.lastIndex = start
  pattern.test(json)
  return pattern.lastIndex
}
