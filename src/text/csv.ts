// Tables for spreadsheets: CSV of RFC 4180 with every cell quoted, and protection against formula injection.

/** The byte order mark, by which Excel recognises UTF-8. */
export const CSV_MARK = '\uFEFF'

/**
 * Excel, LibreOffice and Google Sheets run a cell that begins with one of these, also in full-width form
 * (https://owasp.org/www-community/attacks/CSV_Injection). A spreadsheet that separates cells by semicolons
 * or tabs splits quoted text at those too, so what follows them also counts as a beginning.
 */
const BEGINNING = /^(?=[=+\-@\t\r\n\uFF0B\uFF0D\uFF1D\uFF20])/
const AFTER_SEPARATOR = /([;\t\r\n]["' ]*)(?=[=+\-@\uFF0B\uFF0D\uFF1D\uFF20])/g

/** Returns lines with line ends. An apostrophe before a formula makes spreadsheets read it as text. */
export function writeCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(quote).join(',')}\r\n`).join('')
}

function quote(cell: string): string {
  const safe = cell.replace(AFTER_SEPARATOR, "$1'").replace(BEGINNING, "'")
  return `"${safe.replaceAll('"', '""')}"`
}
