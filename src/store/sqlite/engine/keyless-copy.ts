// A copy of the database that opens nothing: for backups, and for going back to a former version of the program. What opens a
// push is never read, so that no file of a copy can hold it; sessions, one-time links and idempotency keys are not in it either.

import { Database } from 'bun:sqlite'
import { isUnreadable, openForSalvage, salvageTable } from './salvage.ts'

/**
 * The tables whose rows are copied. All others stay empty, those of later versions too: a table that opens something must
 * never get into a copy because nobody thought of it.
 */
const COPIED = [
  ...['instance', 'instance_keys', 'accounts', 'api_tokens', 'recovery_codes'],
  ...['message_templates', 'push_choices', 'imported'],
  ...['pushes', 'push_labels', 'audit_entries'],
]
const MAX_FINDINGS = 10

export type KeylessCopyOptions = {
  /** The database; a server may be writing to it meanwhile. */
  source: string
  /** An empty file that its user alone may read. */
  path: string
  /** SQLite refuses to make the copy larger (`SQLITE_FULL`). */
  maxBytes: number
  /**
   * For a copy that takes the place of its database: ends all pushes at this time, since without what opens them they would
   * be taken for damaged, and lists their files as due. Null leaves them as they are.
   */
  endsAt: number | null
}

export type KeylessCopy = {
  /** The version of the schema. */
  schema: number
  pushes: number
  accounts: number
  /** The keys that the database was written with. */
  verifiers: { number: number; verifier: Uint8Array }[]
  /** What is damaged in the database; each a sentence without a full stop. */
  damage: string[]
}

export type UnfinishedCopy = {
  /** The version of the schema, as it is before the copy is written. */
  schema: number
  /**
   * Takes seconds for a large database, and the event loop meanwhile. All is read in one transaction, which holds up nobody
   * and has ended when this returns. Throws what SQLite throws; the file is then worth nothing.
   */
  write(): KeylessCopy
  close(): void
}

/** Opens both databases and reads nothing but the head of the source. */
export function openKeylessCopy(options: KeylessCopyOptions): UnfinishedCopy {
  const { source, path, maxBytes } = options
  const copy = new Database(path, { readwrite: true, create: false, strict: true })
  try {
    for (const pragma of PRAGMAS) copy.run(`PRAGMA ${pragma}`)
    const pageBytes = numberIn(copy, 'PRAGMA page_size')
    copy.run(`PRAGMA max_page_count = ${Math.max(1, Math.floor(maxBytes / pageBytes))}`)
    copy.run('ATTACH ? AS source', [source])
    const schema = numberIn(copy, 'PRAGMA source.user_version')
    return { schema, write: () => writeCopy(copy, options), close: () => copy.close(true) }
  } catch (cause) {
    copy.close()
    throw cause
  }
}

function writeCopy(copy: Database, { source, endsAt }: KeylessCopyOptions): KeylessCopy {
  const { schema, damage } = copyFrom(copy, { source, endsAt })
  copy.run(`PRAGMA user_version = ${schema}`)
  // A start must not wait for this; it has checked its database already.
  return { ...describe(copy), schema, damage: endsAt === null ? [...damage, ...findDamage(copy)] : damage }
}

type From = Pick<KeylessCopyOptions, 'source' | 'endsAt'>

function copyFrom(copy: Database, { source, endsAt }: From): { schema: number; damage: string[] } {
  try {
    const schema = copy.transaction(() => copyAll(copy, endsAt))()
    copy.run('DETACH source')
    return { schema, damage: [] }
  } catch (cause) {
    // A copy for going back must be whole; what remains of a damaged database is for backups.
    if (!isUnreadable(cause) || endsAt !== null) throw cause
    copy.run('DETACH source')
    return copyRemains(copy, source)
  }
}

const PRAGMAS = [
  // What fails is deleted or made anew; in memory, so that it can be rolled back.
  'journal_mode = MEMORY',
  // The bytes are streamed elsewhere, or synchronized by the caller once.
  'synchronous = OFF',
  'foreign_keys = OFF',
  'trusted_schema = OFF',
  'temp_store = MEMORY',
  'busy_timeout = 5000',
  // What the disk has altered is copied as it is.
  'ignore_check_constraints = ON',
]

/**
 * Makes indexes before there are rows: SQLite then copies the pages of equal tables and indexes without looking into their
 * rows, which is several times as fast and sorts nothing in memory. Returns the version of the schema.
 */
function copyAll(copy: Database, endsAt: number | null): number {
  const schema = numberIn(copy, 'PRAGMA source.user_version')
  const parts = readParts(copy, 'source')
  const tables = makeTables(copy, parts)
  for (const table of tables.filter((name) => COPIED.includes(name)))
    copy.run(`INSERT INTO main.${table} SELECT * FROM source.${table}`)
  keepIds(copy)
  if (endsAt !== null) endPushes(copy, endsAt, tables)
  make(copy, parts, ['trigger', 'view'])
  return schema
}

/** Row by row, and without what cannot be read. */
function copyRemains(copy: Database, path: string): { schema: number; damage: string[] } {
  const source = openForSalvage(path)
  try {
    source.run('BEGIN')
    const schema = numberIn(source, 'PRAGMA user_version')
    const parts = readParts(source, 'main')
    const damage = copy.transaction(() => {
      const tables = makeTables(copy, parts).filter((name) => COPIED.includes(name))
      const lost = tables.flatMap((table) => salvageTable({ source, copy }, table))
      make(copy, parts, ['trigger', 'view'])
      return lost
    })()
    return { schema, damage: damage.length > 0 ? damage : [ONLY_INDEXES] }
  } finally {
    source.close()
  }
}

const ONLY_INDEXES = 'an index cannot be read; all rows that are backed up could'

type Part = { type: string; name: string; sql: string }

function readParts(database: Database, name: string): Part[] {
  const parts = database.query<Part, []>(
    `SELECT type, name, sql FROM ${name}.sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'`,
  )
  return parts.all()
}

function make(copy: Database, parts: readonly Part[], types: readonly string[]): void {
  for (const { sql } of parts.filter(({ type }) => types.includes(type))) copy.run(sql)
}

/** Returns their names. */
function makeTables(copy: Database, parts: readonly Part[]): string[] {
  make(copy, parts, ['table'])
  make(copy, parts, ['index'])
  return parts.filter(({ type }) => type === 'table').map(({ name }) => name)
}

/** The ids that were used last. */
function keepIds(copy: Database): void {
  const isKept =
    copy.query("SELECT 1 FROM source.sqlite_schema WHERE name = 'sqlite_sequence'").get() !== null
  if (!isKept) return
  copy.run('DELETE FROM main.sqlite_sequence')
  copy.run('INSERT INTO main.sqlite_sequence SELECT * FROM source.sqlite_sequence')
}

/** A row without a checksum is taken as it is. */
function endPushes(copy: Database, now: number, tables: readonly string[]): void {
  const columns = copy.query<{ name: string }, []>("SELECT name FROM pragma_table_info('pushes')").all()
  const unsummed = columns.some(({ name }) => name === 'checksum') ? ', checksum = NULL' : ''
  copy.run(`UPDATE main.pushes SET expired_on = min(?, expires_at)${unsummed} WHERE expired_on IS NULL`, [
    now,
  ])
  if (!tables.includes('files_due')) return
  copy.run('INSERT OR IGNORE INTO main.files_due SELECT * FROM source.files_due')
  copy.run('INSERT OR IGNORE INTO main.files_due (id, at) SELECT file_id, ? FROM source.push_files', [now])
}

function describe(copy: Database): Pick<KeylessCopy, 'pushes' | 'accounts' | 'verifiers'> {
  const count = (table: string) => numberIn(copy, `SELECT count(*) FROM ${table}`)
  const verifiers = copy
    .query<{ number: number; verifier: Uint8Array }, []>('SELECT number, verifier FROM instance_keys')
    .all()
  return { pushes: count('pushes'), accounts: count('accounts'), verifiers }
}

/** What a raw copy takes over unseen: rows that cannot be read. */
function findDamage(copy: Database): string[] {
  const found = copy
    .query<{ quick_check: string }, []>(`PRAGMA quick_check(${MAX_FINDINGS})`)
    .all()
    .map(({ quick_check: finding }) => finding.replaceAll('\n', ' '))
  return found.filter((finding) => finding !== 'ok')
}

function numberIn(copy: Database, sql: string): number {
  return Number(Object.values(copy.query<Record<string, number>, []>(sql).get() ?? {})[0] ?? 0)
}
