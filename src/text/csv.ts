// Tables for spreadsheets: CSV of RFC 4180 with every cell quoted, and protection against formula injection.

/** The byte order mark, by which Excel recognises UTF-8. */
export const CSV_MARK = '\uFEFF'

/**
 * Matches the beginning of a cell that Excel, LibreOffice and Google Sheets would run as a formula, also in
 * full-width form (https://owasp.org/www-community/attacks/CSV_Injection). A spreadsheet that separates cells
 * by semicolons or tabs splits even quoted text there, so the same characters after one are matched too.
 */
const BEGINNING = /^(?=[=+\-@\t\r\n\uFF0B\uFF0D\uFF1D\uFF20])/
const AFTER_SEPARATOR = /([;\t\r\n]["' ]*)(?=[=+\-@\uFF0B\uFF0D\uFF1D\uFF20])/g

/**
 * Returns lines with line ends. Puts an apostrophe before a formula, so that spreadsheets read it as text.
 */
export function writeCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(quote).join(',')}\r\n`).join('')
}

function quote(cell: string): string {
  const safe = cell.replace(AFTER_SEPARATOR, "$1'").replace(BEGINNING, "'")
  return `"${safe.replaceAll('"', '""')}"`
}
