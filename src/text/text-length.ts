// Checks the length of a text before other code reads it, in constant time for texts far above the limit.

/** Whether a text has more characters. They are code points: an emoji is one. */
export function hasMoreCharacters(text: string, limit: number): boolean {
  if (text.length <= limit) return false
  return text.length > 2 * limit || [...text].length > limit
}

/** Whether a text has more bytes of UTF-8. */
export function hasMoreBytes(text: string, limit: number): boolean {
  return text.length > limit || Buffer.byteLength(text) > limit
}
