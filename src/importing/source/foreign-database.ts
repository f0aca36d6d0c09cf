// The interface to another server's database, the same for every engine: reads one snapshot, read-only.

export type Row = Record<string, unknown>

/** A read-only database. Names in SQL may be in double quotes. */
export type ForeignDatabase = {
  /** The name for messages, without password. */
  name: string
  /** The type of a text in a CAST: as texts, times keep their fraction and have no zone. */
  textType: string
  /** Lists `table` and `column` of each column that the user may see. */
  columns: string
  /** Throws `conflict`, naming the database. */
  read(sql: string): Promise<Row[]>
  /**
   * Resolves to evidence that another process uses the database, as half a sentence; null if there is none.
   */
  findOthers(): Promise<string | null>
  close(): Promise<void>
}
