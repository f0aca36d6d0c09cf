// Folds text for search: ignores case, accents and width.

/**
 * Spellings of the same word fold to the same text: `Çelik` and `celik`, `Straße` and `STRASSE`, `DIŞ` and
 * `dış`. Replaces compatibility forms by plain letters (NFKD, Unicode UAX #15) and removes marks.
 */
export function foldForSearch(text: string): string {
  if (ASCII.test(text)) return text.toUpperCase()
  // Marks go first, because NFKD sorts those in a row, in the square of their number. UAX #15 calls up to 30
  // stream-safe; a letter decomposes into at most three.
  const decomposed = text.replace(MARKS, '').normalize('NFKD')
  // Upper case merges more letters than lower case does: ı and i, ß and ss, ς and σ.
  const plain = decomposed.replace(MARKS, '').toUpperCase().replace(MARKS, '')
  return plain.replace(UNDECOMPOSED, (letter) => PLAIN_LETTERS[letter] ?? letter)
}

const ASCII = /^\p{ASCII}*$/u
/** With the half-wide marks of Katakana, which are letters that NFKD turns into marks. */
const MARKS = /[\p{M}\uff9e\uff9f]+/gu

/** Letters that Unicode does not decompose, and how people type them on other keyboards. */
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

/** The words of a query, folded. A text matches when it contains all of them. */
export function foldedWords(query: string): string[] {
  return foldForSearch(query)
    .split(/\s+/)
    .filter((word) => word !== '')
}
