// What a move carries from one store to another: rows in a form that belongs to no engine, read and written in a fixed order.

/** A value of a column. U+0000 stands in no text, because PostgreSQL cannot hold it. */
export type MovingValue = string | number | boolean | null | Uint8Array<ArrayBuffer>

/** A row by the names of its columns in TypeScript. */
export type MovingRow = Readonly<Record<string, MovingValue>>

/** The values of the columns by which the rows of a table are ordered. */
export type MovingKey = readonly MovingValue[]

/** The tables that are moved row by row, in the order in which they are written. */
export type MovedTable =
  | 'instanceKeys'
  | 'accounts'
  | 'apiTokens'
  | 'recoveryCodes'
  | 'sessions'
  | 'accountLinks'
  | 'messageTemplates'
  | 'pushChoices'
  | 'imported'
  | 'idempotencyKeys'
  | 'filesDue'

/** A push with everything of it. `entries`: its audit log, oldest first. */
export type MovingPush = {
  push: MovingRow
  secrets: MovingRow | null
  labels: MovingRow | null
  share: MovingRow | null
  files: readonly MovingRow[]
  entries: readonly MovingRow[]
}

/** A file of a push. `size`: of its content, before it was sealed. */
export type MovingFile = { id: string; pushId: number; size: number }

/** Some items in the order of their keys. */
export type Batch<Item> = {
  items: readonly Item[]
  /** Rows that the disk has altered, such as `push 17`. They are not among the items. */
  damaged: readonly string[]
  /** Where the next batch begins; null when there is none. */
  next: MovingKey | null
}

/** What a store knows beside its rows. */
export type MovingFacts = {
  /** When it was last in use, and the reading of its clock that is in doubt. */
  clockMark: number
  clockDoubted: number | null
  /** The last id that an account ever had, because ids of accounts are never used again. */
  lastAccountId: number
}

/** The folder of a store in its bucket, and the last session that used it. */
export type MovingBucketFolder = { tag: string; session: string; isUsed: boolean }

export type MovingCounts = {
  accounts: number
  pushes: number
  /** Pushes that can still be opened. */
  live: number
  entries: number
  files: number
  /** Of the files, before they were sealed. */
  bytes: number
  /** The largest of them. */
  largest: number
}

/** Reads a store that nobody serves. */
export type MovingReader = {
  readFacts(): Promise<MovingFacts>
  readBucketFolder(): Promise<MovingBucketFolder | null>
  count(): Promise<MovingCounts>
  /** The rows after this key; null begins with the first. */
  readRows(table: MovedTable, after: MovingKey | null): Promise<Batch<MovingRow>>
  /** Bounded in bytes, except that a single push may be larger. */
  readPushes(after: MovingKey | null): Promise<Batch<MovingPush>>
  /** The files of live pushes. */
  readFiles(after: MovingKey | null): Promise<Batch<MovingFile>>
}

/** Writes into a store that nobody serves. Each call is durable as a whole or does nothing. */
export type MovingWriter = {
  /** The key of the last row that was written; null for none. A move that was broken off goes on after it. */
  findLast(table: MovedTable | 'pushes'): Promise<MovingKey | null>
  writeRows(table: MovedTable, rows: readonly MovingRow[]): Promise<void>
  writePushes(pushes: readonly MovingPush[]): Promise<void>
  writeBucketFolder(folder: MovingBucketFolder): Promise<void>
  /** Writes the facts, and what follows from all rows. Call it after them. */
  finish(facts: MovingFacts): Promise<void>
}

/** How far a move into a store has come. A store in either state is not served. */
export type MoveState = {
  /** Random; the mark of the source names it once it was left. */
  id: string
  state: 'copying' | 'copied'
  /** Where the rows come from. */
  source: string
  /** Changes whenever the source was used. */
  sourceMark: string
}

/**
 * What a store that was moved away keeps: where everything went. `isSettled`: the target was confirmed and may have been served
 * since, so nothing is copied there again.
 */
export type MovedAway = { id: string; to: string; at: number; isSettled: boolean }
