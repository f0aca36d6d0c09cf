// Formats lists as aligned columns, for people and for `awk`, and fits them to a terminal.

/** Returns one line per row. Does not pad the last column. */
export function alignColumns(...rows: readonly string[][]): string[] {
  const widths = widthsOf(rows)
  return rows.map((row) =>
    row
      .map((cell, column) => padEnd(cell, widths[column] ?? 0))
      .join(GAP)
      .trimEnd(),
  )
}

/** Returns a line for each row, its cells separated by tabs, for `cut` and spreadsheets. */
export function separateByTabs(header: string[], rows: string[][]): string[] {
  return [header, ...rows].map((row) => row.join('\t'))
}

type TableLayout = {
  /** Columns of the terminal. */
  width: number
  /** The column that may be shortened. */
  stretch: number
  /** A shorter last cell for each row, used when the terminal is too narrow. */
  shortLast?: readonly string[]
}

/**
 * Fits every line into the terminal: as a table; else as a table whose last column stands below each row;
 * else as one cell per line.
 */
export function fitColumns(header: string[], rows: string[][], fitting: TableLayout): string[] {
  const { width, stretch } = fitting
  const table = shrink([header, ...rows], { width, column: stretch })
  if (table !== null) return alignColumns(...table)
  const last = header.length - 1
  const heads = [header, ...rows].map((row) => row.slice(0, last))
  const upper = stretch < last ? shrink(heads, { width, column: stretch }) : null
  const below = (row: number) => lastCell(rows[row]?.[last] ?? '', { ...fitting, row })
  if (upper !== null) {
    const [title = '', ...lines] = alignColumns(...upper)
    return [title, ...lines.flatMap((line, row) => [line, below(row)])]
  }
  return rows.flatMap((cells, row) => [...cells.slice(0, last).map((cell) => cut(cell, width)), below(row)])
}

const GAP = '  '
/** The narrowest useful column. */
const LEAST = 12

function lastCell(cell: string, { width, shortLast, row }: TableLayout & { row: number }): string {
  const isWide = Bun.stringWidth(cell) + GAP.length > width
  return `${GAP}${cut((isWide && shortLast?.[row]) || cell, width - GAP.length)}`
}

/** Shortens one column so that the table fits. Returns null if too little of that column would be left. */
function shrink(rows: string[][], { width, column }: { width: number; column: number }): string[][] | null {
  const widths = widthsOf(rows)
  const own = widths[column] ?? 0
  const others = widths.reduce((sum, one) => sum + one + GAP.length, -GAP.length) - own
  const room = Math.min(own, width - others)
  if (room < Math.min(own, LEAST)) return null
  return rows.map((row) => row.map((cell, at) => (at === column ? cut(cell, room) : cell)))
}

function widthsOf(rows: readonly string[][]): number[] {
  const columns = rows[0]?.map((_, column) => column) ?? []
  return columns.map((column) => Math.max(...rows.map((row) => Bun.stringWidth(row[column] ?? ''))))
}

/** Pads to a number of columns on a terminal, where Chinese characters and emoji take two. */
function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - Bun.stringWidth(text)))
}

/** Shortens to a number of columns, between characters as people see them. */
function cut(text: string, width: number): string {
  const shorten = (columns: number) => Bun.sliceAnsi(text, 0, columns, { ellipsis: '…' })
  const short = shorten(width)
  // Stop before a character of two columns that would exceed the width.
  return Bun.stringWidth(short) <= width ? short : shorten(width - 1)
}
