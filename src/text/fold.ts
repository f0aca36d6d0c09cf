// Folds text for search: ignores case, accents and width.

/**
 * Folds spellings of the same word to the same text: `Çelik` and `celik`, `Straße` and `STRASSE`, `DIŞ` and
 * `dış`. Replaces compatibility forms by plain letters (NFKD, Unicode UAX #15) and removes marks.
 */
export function foldForSearch(text: string): string {
  if (ASCII.test(text)) return text.toUpperCase()
  // Removes marks first, because NFKD sorts consecutive ones in quadratic time. UAX #15 calls up to 30
  // stream-safe; a letter decomposes into at most three.
  const decomposed = text.replace(MARKS, '').normalize('NFKD')
  // Upper case merges more letters than lower case: ı and i, ß and ss, ς and σ.
  const plain = decomposed.replace(MARKS, '').toUpperCase().replace(MARKS, '')
  return plain.replace(UNDECOMPOSED, (letter) => PLAIN_LETTERS[letter] ?? letter)
}

const ASCII = /^\p{ASCII}*$/u
/** Combining marks, and the half-width Katakana marks, which NFKD turns into combining ones. */
const MARKS = /[\p{M}\uff9e\uff9f]+/gu

/** Letters that Unicode does not decompose, with the plain letters that people type instead. */
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

/** Returns the folded words of a query. A text matches when it contains all of them. */
export function foldedWords(query: string): string[] {
  return foldForSearch(query)
    .split(/\s+/)
    .filter((word) => word !== '')
}
