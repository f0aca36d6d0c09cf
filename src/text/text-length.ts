// Whether a text is longer than it may be, told before anything else looks at it, in time that its length
// does not matter to.

/** Characters are code points: an emoji is one. */
export function hasMoreCharacters(text: string, limit: number): boolean {
  if (text.length <= limit) return false
  return text.length > 2 * limit || [...text].length > limit
}

/** Bytes of UTF-8. */
export function hasMoreBytes(text: string, limit: number): boolean {
  return text.length > limit || Buffer.byteLength(text) > limit
}
