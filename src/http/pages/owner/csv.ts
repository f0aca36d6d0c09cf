// Tables for spreadsheets (RFC 4180), of which no cell is taken for a formula.

/** Excel, LibreOffice and Google Sheets run what begins like this (OWASP, CSV injection). */
const FORMULA = /^[=+\-@\t\r]/

/** In front of a whole file: it tells Excel that this is UTF-8. */
export const CSV_MARK = '\uFEFF'

/** Every cell is quoted. */
export function writeCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(quote).join(',')}\r\n`).join('')
}

function quote(cell: string): string {
  const safe = FORMULA.test(cell) ? `'${cell}` : cell
  return `"${safe.replaceAll('"', '""')}"`
}
