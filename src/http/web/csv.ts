// Tables for spreadsheets (RFC 4180), of which no cell is taken for a formula.

/** Excel, LibreOffice and Google Sheets run what begins like this (OWASP, CSV injection). */
const FORMULA = /^[=+\-@\t\r]/

/** Every cell is quoted; a UTF-8 mark in front tells Excel how to read it. */
export function writeCsv(rows: readonly (readonly string[])[]): string {
  return `\uFEFF${rows.map((row) => `${row.map(quote).join(',')}\r\n`).join('')}`
}

function quote(cell: string): string {
  const safe = FORMULA.test(cell) ? `'${cell}` : cell
  return `"${safe.replaceAll('"', '""')}"`
}
