// Text as a search compares it: without case, accents and width.

/**
 * Two texts that a reader takes for the same word fold to the same text: `Çelik` and `celik`, `Straße` and `STRASSE`,
 * `DIŞ` and `dış`. Compatibility forms (NFKD, Unicode UAX #15) become their plain letters, marks go.
 */
export function foldForSearch(text: string): string {
  if (ASCII.test(text)) return text.toUpperCase()
  // Upper case maps more letters together than lower case: ı and i, ß and ss, ς and σ.
  const plain = text.normalize('NFKD').replace(MARKS, '').toUpperCase().replace(MARKS, '')
  return plain.replace(UNDECOMPOSED, (letter) => PLAIN_LETTERS[letter] ?? letter)
}

const ASCII = /^\p{ASCII}*$/u
const MARKS = /\p{M}+/gu

/** Letters that Unicode does not decompose, as people type them on a keyboard without them. */
const PLAIN_LETTERS: Record<string, string> = {
  Æ: 'AE',
  Œ: 'OE',
  Ø: 'O',
  Ł: 'L',
  Đ: 'D',
  Ð: 'D',
  Þ: 'TH',
  ẞ: 'SS',
}

const UNDECOMPOSED = new RegExp(`[${Object.keys(PLAIN_LETTERS).join('')}]`, 'g')

/** The words of a query, folded. A text fits when it holds each of them. */
export function foldedWords(query: string): string[] {
  return foldForSearch(query)
    .split(/\s+/)
    .filter((word) => word !== '')
}
