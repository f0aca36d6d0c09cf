// Reads CSV as RFC 4180 defines it, and as a spreadsheet does.

/** Reads the rows. Throws for a quotation mark where none is allowed. */
export function readCsv(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  const cell = /"((?:[^"]|"")*)"(,|\r\n)/y
  while (cell.lastIndex < text.length) {
    const at = cell.lastIndex
    const [, content, end] = cell.exec(text) ?? []
    if (content === undefined) throw new Error(`no cell at ${at}: ${text.slice(at, at + 40)}`)
    row.push(content.replaceAll('""', '"'))
    if (end === ',') continue
    rows.push(row)
    row = []
  }
  return rows
}

/** Returns the rows, keyed by the titles in the first one. */
export function readTable(text: string): Record<string, string>[] {
  const [titles = [], ...rows] = readCsv(text.replace(/^\uFEFF/, ''))
  return rows.map((row) => Object.fromEntries(titles.map((title, column) => [title, row[column] ?? ''])))
}
