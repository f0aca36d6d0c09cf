// Makes untrusted text safe for terminals and logs: without control sequences and forged lines.

/**
 * Control characters, invisible ones and direction marks. Excludes line breaks, tabs and the two joiners
 * (U+200C, U+200D), which Persian and emoji need.
 */
export const UNPRINTABLE = /[^\P{Cc}\n\t]|(?![\u200c\u200d])\p{Cf}|[\p{Zl}\p{Zp}\p{Cs}]/gu

/** Matches a direction mark, because of which a text is displayed in another order than it is copied. */
export const DIRECTION_MARK = /[\u202a-\u202e\u2066-\u2069]/

/**
 * Replaces unprintable characters by visible signs, except line breaks and tabs. For terminals and logs, not
 * for pipes.
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (mark) => {
    const code = mark.codePointAt(0) ?? 0
    return code < 0x20 ? String.fromCodePoint(0x2400 + code) : code === 0x7f ? '\u2421' : '\ufffd'
  })
}

/** Like `printable`, but for a single line. */
export function printableLine(text: string): string {
  return printable(text.replace(/[\n\t]/g, ' '))
}
