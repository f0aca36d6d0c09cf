// Everything that a move reads of a SQLite database, or writes into a new one.

import { DamageError } from '../../../domain/errors.ts'
import { MOVED_TABLES, STEP } from '../../moving/tables.ts'
import type {
  Batch,
  MovedTable,
  MovingCounts,
  MovingFacts,
  MovingFile,
  MovingKey,
  MovingReader,
  MovingWriter,
} from '../../moving-face.ts'
import type { Connection } from '../engine/database.ts'
import { readStoredMark, storeMark } from '../engine/instance.ts'
import { readBucketFolder, writeBucketFolder } from '../files/bucket-folder.ts'
import { readKeys, writeKeys } from './moving-keys.ts'
import { createPushReader } from './read-pushes.ts'
import { type RowReader, type RowWriter, SIMPLE_TABLES } from './simple-tables.ts'
import { createPushWriter } from './write-pushes.ts'

type Row = Record<string, number | string | Uint8Array<ArrayBuffer>>

/** Prepares no statement before it is needed: the tables may change until then. */
export function createMovingReader(connection: Connection): MovingReader {
  const { database } = connection
  const readers = new Map<MovedTable, RowReader>()
  const readPushes = lazily(() => createPushReader(database))

  function readRows(table: MovedTable, after: MovingKey | null) {
    const known = readers.get(table)
    const read =
      known ?? (table === 'idempotencyKeys' ? readKeys(database) : SIMPLE_TABLES[table].reader(database))
    if (known === undefined) readers.set(table, read)
    return read(after)
  }

  function readFacts(): MovingFacts {
    const { mark, doubted, isWhole } = readStoredMark(connection)
    if (!isWhole) throw new DamageError('the time at which the database was last in use')
    const lastAccountId = numberIn(
      "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'accounts'",
    )
    return { clockMark: mark, clockDoubted: doubted, lastAccountId }
  }

  function numberIn(sql: string): number {
    return Number(Object.values(database.query<Row, []>(sql).get() ?? {})[0] ?? 0)
  }

  function count(): MovingCounts {
    return {
      accounts: numberIn('SELECT count(*) FROM accounts'),
      pushes: numberIn('SELECT count(*) FROM pushes'),
      live: numberIn('SELECT count(*) FROM pushes WHERE expired_on IS NULL'),
      entries: numberIn('SELECT count(*) FROM audit_entries'),
      files: numberIn('SELECT count(*) FROM push_files'),
      bytes: numberIn('SELECT sum(size) FROM push_files'),
      largest: numberIn('SELECT max(size) FROM push_files'),
    }
  }

  function readFiles(after: MovingKey | null): Batch<MovingFile> {
    const [pushId = 0, n = -1] = after ?? []
    const rows = database
      .query<MovingFile & { n: number }, [number, number]>(FILES)
      .all(Number(pushId), Number(n))
    const last = rows.at(-1)
    const isEnd = last === undefined || rows.length < STEP
    return {
      items: rows.map(({ id, pushId, size }) => ({ id, pushId, size })),
      damaged: [],
      next: isEnd ? null : [last.pushId, last.n],
    }
  }

  return {
    readFacts: async () => readFacts(),
    readBucketFolder: async () => readBucketFolder(connection),
    count: async () => count(),
    readRows: async (table, after) => readRows(table, after),
    readPushes: async (after) => readPushes()(after),
    readFiles: async (after) => readFiles(after),
  }
}

export function createMovingWriter(connection: Connection): MovingWriter {
  const { database, orm } = connection
  const writers = new Map<MovedTable, RowWriter>()
  const writePush = lazily(() => createPushWriter(database))

  function writerOf(table: MovedTable): RowWriter {
    const known = writers.get(table)
    const write =
      known ?? (table === 'idempotencyKeys' ? writeKeys(database) : SIMPLE_TABLES[table].writer(database))
    if (known === undefined) writers.set(table, write)
    return write
  }

  function each<Item>(items: readonly Item[], write: (item: Item) => void): void {
    database
      .transaction(() => {
        for (const item of items) write(item)
      })
      .immediate()
  }

  function findLast(table: MovedTable | 'pushes'): MovingKey | null {
    const { name, columns } = keyColumns(table)
    const row = database
      .query<Row, []>(
        `SELECT ${columns.join(', ')} FROM ${name} ORDER BY ${columns.map((column) => `${column} DESC`).join(', ')} LIMIT 1`,
      )
      .get()
    return row === null ? null : Object.values(row)
  }

  /** SQLite remembers the last id that it gave out itself. */
  function keepIds(lastAccountId: number): void {
    database.run("DELETE FROM sqlite_sequence WHERE name = 'accounts'")
    database.run("INSERT INTO sqlite_sequence (name, seq) VALUES ('accounts', ?)", [lastAccountId])
  }

  return {
    findLast: async (table) => findLast(table),
    writeRows: async (table, rows) => each(rows, writerOf(table)),
    writePushes: async (pushes) => each(pushes, writePush()),
    writeBucketFolder: async (folder) => writeBucketFolder(connection, folder),
    finish: async ({ clockMark: mark, clockDoubted: doubted, lastAccountId }) =>
      database
        .transaction(() => {
          storeMark({ orm }, { mark, doubted })
          keepIds(lastAccountId)
        })
        .immediate(),
  }
}

function keyColumns(table: MovedTable | 'pushes'): { name: string; columns: string[] } {
  const inSql = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const key = table === 'pushes' ? ['id'] : MOVED_TABLES[table].key
  return { name: inSql(table), columns: key.map(inSql) }
}

function lazily<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

const FILES = `
  SELECT file_id AS id, push_id AS pushId, size, n FROM push_files
  WHERE (push_id, n) > (?, ?) ORDER BY push_id, n LIMIT ${STEP}`
