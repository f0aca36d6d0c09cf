// Tables for spreadsheets: CSV as in RFC 4180, every cell quoted, and none taken for a formula.

/** In front of a whole file: it tells Excel that this is UTF-8. */
export const CSV_MARK = '\uFEFF'

/**
 * Excel, LibreOffice and Google Sheets run a cell that begins with one of these, also in its wide form
 * (https://owasp.org/www-community/attacks/CSV_Injection). Where a spreadsheet separates cells by semicolons
 * or tabs, a quoted text falls apart at those, so what follows them counts as a beginning too.
 */
const BEGINNING = /^(?=[=+\-@\t\r\n\uFF0B\uFF0D\uFF1D\uFF20])/
const AFTER_SEPARATOR = /([;\t\r\n]["' ]*)(?=[=+\-@\uFF0B\uFF0D\uFF1D\uFF20])/g

/**
 * Lines with their ends. An apostrophe goes before what a spreadsheet would run: it takes the rest for text.
 */
export function writeCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(quote).join(',')}\r\n`).join('')
}

function quote(cell: string): string {
  const safe = cell.replace(AFTER_SEPARATOR, "$1'").replace(BEGINNING, "'")
  return `"${safe.replaceAll('"', '""')}"`
}
