// What is promised of a database of another server, whichever engine keeps it: everything is read as it was in one moment,
// and nothing is written.

export type Row = Record<string, unknown>

/** Where the SQL of the engines differs. */
export type Dialect = {
  /** A column's name, which may be a reserved word. */
  quote(name: string): string
  /** A column as text where its type would not arrive as it is stored: times keep their fraction and have no zone. */
  text(column: string): string
  /** Lists `table` and `column` of each column that can be seen. */
  columns: string
}

export type ForeignDatabase = {
  /** For messages; holds no password. */
  name: string
  dialect: Dialect
  /** Throws `conflict`, naming the database. */
  read(sql: string): Promise<Row[]>
  /** Sentences about who else seems to work on it. */
  findOthers(): Promise<string[]>
  /** From now on reads what is there now, not what was there when it was opened. */
  leaveMoment(): Promise<void>
  close(): Promise<void>
}

export type Paging = { table: string; columns: string; where?: string; rows: number }

/** Rows by ascending `id`, a page at a time. The primary key is the only index that this needs. */
export async function* readPages(
  database: ForeignDatabase,
  { table, columns, where = '', rows }: Paging,
): AsyncGenerator<Row[]> {
  let last = -1
  for (;;) {
    const page = await database.read(
      `SELECT ${columns} FROM ${table} WHERE ${table}.id > ${last} ${where} ORDER BY ${table}.id LIMIT ${rows}`,
    )
    yield page
    if (page.length < rows) return
    last = Number(page.at(-1)?.id)
  }
}

/** By their `id`. `sql` ends before the list of ids. */
export async function readByIds(
  database: ForeignDatabase,
  { sql, ids }: { sql: string; ids: readonly number[] },
): Promise<Map<number, Row>> {
  const found = new Map<number, Row>()
  for (let at = 0; at < ids.length; at += MOST_IDS) {
    const some = ids.slice(at, at + MOST_IDS).join(', ')
    for (const row of await database.read(`${sql} IN (${some})`)) found.set(Number(row.id), row)
  }
  return found
}

const MOST_IDS = 1_000
