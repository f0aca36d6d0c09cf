// A copy of the database that opens nothing: for backups, and for going back to a former version of the program. What opens a
// push is never read, so that no file of a copy can hold it; sessions, one-time links and idempotency keys are not in it either.

import { Database } from 'bun:sqlite'
import { codeOf } from '../../../domain/system-errors.ts'
import { salvageTable } from './salvage.ts'

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
  /**
   * Takes seconds for a large database, and the event loop meanwhile. All is read in one transaction, which holds up nobody
   * and has ended when this returns. Throws what SQLite throws; the file is then worth nothing.
   */
  write(): KeylessCopy
  close(): void
}

/** Opens both databases and reads nothing but the head of the source. */
export function openKeylessCopy({ source, path, maxBytes, endsAt }: KeylessCopyOptions): UnfinishedCopy {
  const copy = new Database(path, { readwrite: true, create: false, strict: true })
  try {
    for (const pragma of PRAGMAS) copy.run(`PRAGMA ${pragma}`)
    const pageBytes = numberIn(copy, 'PRAGMA page_size')
    copy.run(`PRAGMA max_page_count = ${Math.max(1, Math.floor(maxBytes / pageBytes))}`)
    copy.run('ATTACH ? AS source', [source])
    numberIn(copy, 'PRAGMA source.user_version')
  } catch (cause) {
    copy.close()
    throw cause
  }
  return { write: () => writeCopy(copy, endsAt), close: () => copy.close(true) }
}

function writeCopy(copy: Database, endsAt: number | null): KeylessCopy {
  const { schema, damage } = copy.transaction(() => copyAll(copy, endsAt))()
  copy.run('DETACH source')
  copy.run(`PRAGMA user_version = ${schema}`)
  // A start must not wait for this; it has checked its database already.
  return { ...describe(copy), schema, damage: endsAt === null ? [...damage, ...findDamage(copy)] : damage }
}

const PRAGMAS = [
  // What fails is deleted as a whole; in memory, so that a table that cannot be read is given up alone.
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
 * rows, which is several times as fast and sorts nothing in memory.
 */
function copyAll(copy: Database, endsAt: number | null): { schema: number; damage: string[] } {
  const schema = numberIn(copy, 'PRAGMA source.user_version')
  const parts = partsOf(copy)
  const make = (types: readonly string[]) => {
    for (const { sql } of parts.filter(({ type }) => types.includes(type))) copy.run(sql)
  }
  make(['table'])
  make(['index'])
  const tables = parts.filter(({ type }) => type === 'table').map(({ name }) => name)
  const damage = tables.filter((name) => COPIED.includes(name)).flatMap((name) => copyTable(copy, name))
  keepIds(copy)
  if (endsAt !== null) endPushes(copy, endsAt, tables)
  make(['trigger', 'view'])
  return { schema, damage }
}

type Part = { type: string; name: string; sql: string }

function partsOf(copy: Database): Part[] {
  const parts = copy.query<Part, []>(
    "SELECT type, name, sql FROM source.sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'",
  )
  return parts.all()
}

/** Returns what could not be read. */
function copyTable(copy: Database, table: string): string[] {
  copy.run('SAVEPOINT whole')
  try {
    copy.run(`INSERT INTO main.${table} SELECT * FROM source.${table}`)
    return []
  } catch (cause) {
    if (!isDamage(cause)) throw cause
    copy.run('ROLLBACK TO whole')
    return salvageTable(copy, table)
  } finally {
    if (copy.inTransaction) copy.run('RELEASE whole')
  }
}

function isDamage(cause: unknown): boolean {
  return /^SQLITE_(CORRUPT|CONSTRAINT|NOTADB)/.test(codeOf(cause))
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
