// What is promised of a database of another server, whichever engine keeps it: everything is read as it was
// in one moment, and nothing is written.

export type Row = Record<string, unknown>

/** Names in its SQL may stand in double quotes. */
export type ForeignDatabase = {
  /** The name for messages, without password. */
  name: string
  /** The type of a text in a CAST: as texts, times keep their fraction and have no zone. */
  textType: string
  /** Lists `table` and `column` of each column that can be seen. */
  columns: string
  /** Throws `conflict`, naming the database. */
  read(sql: string): Promise<Row[]>
  /** Resolves to the sign of another process using it, as half a sentence; null without one. */
  findOthers(): Promise<string | null>
  close(): Promise<void>
}
