// Copies the rows of a database that open nothing into a new one: for backups, for restores, and for going
// back to a former version. Nothing else is read: no key of a push, no link, no request, no session, no
// one-time link, no idempotency key.
//
// The new database has the tables of this program, whatever the other one says of itself: of that one only
// rows are taken, and each has to pass the checks of the new tables.

import { Database } from 'bun:sqlite'
import { LAST_TIME } from '../../domain/time.ts'
import type * as tables from '../tables.ts'
import { MIGRATIONS, migrate, newerSchema } from './migrate.ts'

type TableName = (typeof tables)[keyof typeof tables]['_']['name']
/** Table → condition on the rows that are copied. */
type Rows = Partial<Record<TableName, string>>

const OF_ACCOUNT = 'account_id IN (SELECT id FROM main.accounts)'
/**
 * Small tables and which of their rows to copy, parents first. Tables that are listed nowhere stay empty,
 * even those of later versions.
 */
const FEW = {
  instance: `clock_mark BETWEEN 0 AND ${LAST_TIME}`,
  instance_keys: 'true',
  appearance: 'true',
  accounts: 'true',
  api_tokens: OF_ACCOUNT,
  recovery_codes: OF_ACCOUNT,
  identities: OF_ACCOUNT,
  passkeys: OF_ACCOUNT,
  preferences: OF_ACCOUNT,
  webhooks: `account_id IS NULL OR ${OF_ACCOUNT}`,
  imported: 'true',
} satisfies Rows
/**
 * The condition for rows of a slice of pushes. Checks the push of each row, because a list of all pushes
 * would be built again for each slice.
 */
const OF_PUSH = 'push_id BETWEEN ?1 AND ?2 AND EXISTS (SELECT 1 FROM main.pushes WHERE id = push_id)'
/** The entries in the logs of these pushes, each log from its last entry backwards. */
const IN_LOGS = `id IN (
    WITH RECURSIVE log (id, owner) AS (
      SELECT last_entry, push_id FROM source.push_state WHERE push_id BETWEEN ?1 AND ?2
      UNION ALL
      SELECT previous, owner FROM log JOIN source.audit_entries AS entry ON entry.id = log.id
        WHERE entry.push_id = owner AND previous < log.id)
    SELECT id FROM log)`
/**
 * Frees copied entry ids that SQLite has reused: it reuses the id of the last entry when its push, which may
 * already be copied, is purged.
 */
const FREE_IDS = `DELETE FROM main.audit_entries WHERE ${IN_LOGS}`
/** Tables with rows for each push. A push is copied with all of its rows or not at all. */
const BY_PUSH = {
  pushes: 'id BETWEEN ?1 AND ?2 AND EXISTS (SELECT 1 FROM source.push_state WHERE push_id = id)',
  push_state: OF_PUSH,
  push_labels:
    'push_id BETWEEN ?1 AND ?2 AND EXISTS (SELECT 1 FROM main.pushes WHERE id = push_id AND owner_id IS NOT NULL)',
  audit_entries: `${IN_LOGS} AND ${OF_PUSH}`,
} satisfies Rows

/** A push whose account is missing becomes anonymous. */
const OWNER = 'CASE WHEN owner_id IN (SELECT id FROM main.accounts) THEN owner_id END'
/** Drops every sealed link. A push that answers a request is still marked as an answer. */
const IN_BACKUPS = {
  url_token: "x''",
  request: "CASE WHEN request IS NOT NULL THEN x'' END",
}

const PRAGMAS = [
  // The file is deleted when the copy fails, and its caller syncs it. OFF fails on a file
  // without a name.
  'journal_mode = MEMORY',
  'synchronous = OFF',
  'trusted_schema = OFF',
  'cell_size_check = ON',
  'temp_store = MEMORY',
  'busy_timeout = 5000',
]

/** The target time of one slice. A running server can truncate its WAL only between two. */
const SLICE_MS = 300
/** The pause between slices, in which a server, which tries four times a second, can truncate its WAL. */
const PAUSE_MS = 300
const FIRST_SLICE = 500

export type KeylessCopyOptions = {
  /** The path of the source. A server may be writing to it. */
  source: string
  /** The name of the source in messages. */
  name?: string
  /** An empty file that only its owner may read. */
  path: string
  /** SQLite refuses to make the copy larger (`SQLITE_FULL`). */
  maxBytes?: number
  /** Whether to keep the links, for a copy that stays in the folder of its database. */
  keepsLinks?: boolean
}

export type KeylessCopy = {
  /** The new database, with the source attached as `source`. The caller closes it. */
  database: Database
  /** The version of its schema. */
  schema: number
  /**
   * Writes the copy. Blocks the event loop, and pauses after each slice if `isServed`. Returns the number of
   * rows left out because the table forbids one of their values. Throws the errors of SQLite; the file is
   * then unusable.
   */
  write(options: { isServed: boolean }): number
}

/**
 * Opens both databases, and reads only the schema version. Throws `conflict` if the source's is later than
 * this program's.
 */
export function openKeylessCopy({
  source,
  name = source,
  path,
  maxBytes,
  keepsLinks = false,
}: KeylessCopyOptions): KeylessCopy {
  const database = new Database(path, { readwrite: true, create: false, strict: true })
  try {
    for (const pragma of PRAGMAS) database.run(`PRAGMA ${pragma}`)
    if (maxBytes !== undefined) {
      const pages = Math.floor(maxBytes / numberIn(database, 'PRAGMA page_size'))
      database.run(`PRAGMA max_page_count = ${Math.max(1, pages)}`)
    }
    database.run('ATTACH ? AS source', [source])
    const schema = numberIn(database, 'PRAGMA source.user_version')
    if (schema > MIGRATIONS.length) throw newerSchema(name, { version: schema, known: MIGRATIONS.length })
    return { database, schema, write: ({ isServed }) => copyAll(database, { schema, keepsLinks, isServed }) }
  } catch (cause) {
    database.close()
    throw cause
  }
}

type CopyPlan = { schema: number; keepsLinks: boolean; isServed: boolean }

function copyAll(database: Database, { schema, keepsLinks, isServed }: CopyPlan): number {
  migrate(database, MIGRATIONS.slice(0, schema))
  database.run('PRAGMA foreign_keys = OFF')
  const [few, byPush] = [FEW, BY_PUSH].map((tables) => prepareCopies(database, { tables, keepsLinks }))
  const copySome = (copies: readonly CopyTable[] = [], ...range: number[]) =>
    copies.reduce((sum, copy) => sum + copy(range), 0)
  // Read these in one transaction, which sees a single snapshot.
  const [first, ids] = database.transaction(() => {
    database.run('DELETE FROM main.instance')
    const leftOut = copySome(few)
    keepIds(database)
    return [leftOut, idsOfPushes(database)] as const
  })()
  let leftOut = first
  let size = FIRST_SLICE
  for (let from = ids.first; from <= ids.last; ) {
    if (isServed) Bun.sleepSync(PAUSE_MS)
    const begun = performance.now()
    leftOut += database.transaction(() => {
      database.run(FREE_IDS, [from, from + size - 1])
      return copySome(byPush, from, from + size - 1)
    })()
    from += size
    size = nextSize(size, performance.now() - begun)
  }
  return leftOut
}

function nextSize(size: number, took: number): number {
  return Math.max(1, Math.floor(size * Math.min(4, SLICE_MS / Math.max(1, took))))
}

/** Copies the rows of one table in a range of pushes, and returns how many were left out. */
type CopyTable = (range: readonly number[]) => number

function prepareCopies(
  database: Database,
  { tables, keepsLinks }: { tables: Rows; keepsLinks: boolean },
): CopyTable[] {
  const instead: Record<string, string> = { owner_id: OWNER, ...(keepsLinks ? {} : IN_BACKUPS) }
  return Object.entries(tables).flatMap(([table, rows]) => {
    const names = columnsIn(database, table)
    if (names.length === 0) return []
    requireTable(database, table)
    const from = `FROM source.${table} WHERE ${rows}`
    const values = names.map((name) => instead[name] ?? name)
    const count = `SELECT count(*) AS n ${from}`
    const copy = `INSERT OR IGNORE INTO main.${table} (${names.join()}) SELECT ${values.join()} ${from}`
    return [
      (range) =>
        (database.query<{ n: number }, number[]>(count).get(...range)?.n ?? 0) -
        database.run(copy, [...range]).changes,
    ]
  })
}

/** Returns the columns that this program gives the table; none if only a later schema has the table. */
function columnsIn(database: Database, table: string): string[] {
  return database
    .query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?, 'main')")
    .all(table)
    .map(({ name }) => name)
}

/** Throws unless the name is a plain table, because a view or a virtual table could run anything. */
function requireTable(database: Database, name: string): void {
  const found = database
    .query("SELECT 1 FROM source.sqlite_schema WHERE type = 'table' AND name = ? AND rootpage > 0")
    .get(name)
  if (found === null) throw Object.assign(new Error(`no such table: ${name}`), { code: 'SQLITE_ERROR' })
}

/** Copies the counters of ids, because ids of accounts and pushes are never reused. */
function keepIds(database: Database): void {
  database.run('INSERT OR IGNORE INTO main.instance (id, clock_mark) VALUES (1, 0)')
  database.run('DELETE FROM main.sqlite_sequence')
  database.run(
    `INSERT INTO main.sqlite_sequence SELECT name, max(CAST(seq AS INTEGER)) FROM source.sqlite_sequence
       WHERE name IN ('accounts', 'pushes') GROUP BY name`,
  )
}

function idsOfPushes(database: Database): { first: number; last: number } {
  const [first, last] = ['coalesce(min(id), 1)', 'coalesce(max(id), 0)'].map((id) =>
    numberIn(database, `SELECT ${id} FROM source.pushes`),
  )
  return { first: first ?? 1, last: last ?? 0 }
}

function numberIn(database: Database, sql: string): number {
  return Number(Object.values(database.query<Record<string, number>, []>(sql).get() ?? {})[0] ?? 0)
}
