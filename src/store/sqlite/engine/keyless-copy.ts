// A copy of the database that opens nothing, for backups and for going back to a former version. What opens pushes is never
// read, so no temporary file can hold it. Sessions, one-time links and idempotency keys are left out too.

import { Database } from 'bun:sqlite'

/**
 * The tables whose rows are copied. All others stay empty, also tables of later versions, so that a table with secrets is
 * never copied by mistake.
 */
const COPIED = [
  ...['instance', 'instance_keys', 'accounts', 'api_tokens', 'recovery_codes'],
  ...['message_templates', 'push_choices', 'imported'],
  ...['pushes', 'push_state', 'push_labels', 'audit_entries'],
]
const MAX_FINDINGS = 10

export type KeylessCopyOptions = {
  /** The database; a server may be writing to it meanwhile. */
  source: string
  /** An empty file that only its owner may read. */
  path: string
  /** SQLite refuses to make the copy larger (`SQLITE_FULL`). */
  maxBytes: number
  /**
   * For a copy that replaces its database: ends all pushes at this time and lists their files as due. Otherwise a server would
   * report the pushes as damaged. Null copies pushes unchanged.
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
   * Blocks the event loop, for seconds with a large database. Reads everything in one transaction, which blocks no other process
   * and ends before this returns. Throws the errors of SQLite; the file is then unusable.
   */
  write(): void
  /** Counts and checks what was written. Slow for a large database, but reads nothing of the source. */
  check(): KeylessCopy
  close(): void
}

/** Opens both databases. Reads only the schema version of the source. */
export function openKeylessCopy(options: KeylessCopyOptions): UnfinishedCopy {
  const { source, path, maxBytes, endsAt } = options
  const copy = new Database(path, { readwrite: true, create: false, strict: true })
  try {
    for (const pragma of PRAGMAS) copy.run(`PRAGMA ${pragma}`)
    const pageBytes = numberIn(copy, 'PRAGMA page_size')
    copy.run(`PRAGMA max_page_count = ${Math.max(1, Math.floor(maxBytes / pageBytes))}`)
    copy.run('ATTACH ? AS source', [source])
    for (const pragma of SOURCE_PRAGMAS) copy.run(`PRAGMA source.${pragma}`)
    const schema = numberIn(copy, 'PRAGMA source.user_version')
    const write = () => writeCopy(copy, endsAt)
    const check = () => ({ ...describe(copy), damage: findDamage(copy) })
    return { schema, write, check, close: () => copy.close(true) }
  } catch (cause) {
    copy.close()
    throw cause
  }
}

function writeCopy(copy: Database, endsAt: number | null): void {
  const schema = copy.transaction(() => copyAll(copy, endsAt))()
  emptyLog(copy)
  copy.run('DETACH source')
  copy.run(`PRAGMA user_version = ${schema}`)
}

const PRAGMAS = [
  // In memory: a rollback needs it, but a crash does not, because the file is then deleted.
  'journal_mode = MEMORY',
  // The caller streams the file elsewhere or synchronizes it.
  'synchronous = OFF',
  'foreign_keys = OFF',
  'trusted_schema = OFF',
  'temp_store = MEMORY',
  'busy_timeout = 5000',
  // Copies altered rows as they are.
  'ignore_check_constraints = ON',
]

/** A checkpoint makes the log durable in the database: whatever was committed must survive a power cut. */
const SOURCE_PRAGMAS = ['synchronous = FULL', 'checkpoint_fullfsync = ON']

/**
 * While the transaction read, the log of a busy server could only grow. Writing it to the database in one go would block the
 * server's event loop, so this process does it: a passive checkpoint makes nobody wait.
 */
function emptyLog(copy: Database): void {
  try {
    copy.run('PRAGMA source.wal_checkpoint(PASSIVE)')
  } catch {
    // The server empties it later, and reports what is wrong with the disk.
  }
}

/**
 * Creates the indexes before the rows: SQLite can then copy equal tables and indexes raw, which is several times as fast and
 * needs no memory for sorting. Returns the schema version.
 */
function copyAll(copy: Database, endsAt: number | null): number {
  const schema = numberIn(copy, 'PRAGMA source.user_version')
  const parts = readParts(copy, 'source')
  const tables = makeTables(copy, parts)
  // A backup is restored beside its original, which may go on with the files in the bucket: there begins a new folder.
  const copied = endsAt === null ? COPIED : [...COPIED, 'bucket_folder']
  for (const table of tables.filter((name) => copied.includes(name)))
    copy.run(`INSERT INTO main.${table} SELECT * FROM source.${table}`)
  keepIds(copy)
  if (endsAt !== null) endPushes(copy, endsAt, tables)
  make(copy, parts, ['trigger', 'view'])
  return schema
}

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

/** Copies the last used ids. */
function keepIds(copy: Database): void {
  const isKept =
    copy.query("SELECT 1 FROM source.sqlite_schema WHERE name = 'sqlite_sequence'").get() !== null
  if (!isKept) return
  copy.run('DELETE FROM main.sqlite_sequence')
  copy.run('INSERT INTO main.sqlite_sequence SELECT * FROM source.sqlite_sequence')
}

function endPushes(copy: Database, now: number, tables: readonly string[]): void {
  copy.run('UPDATE main.pushes SET expired_on = min(?, expires_at) WHERE expired_on IS NULL', [now])
  if (!tables.includes('files_due')) return
  copy.run('INSERT OR IGNORE INTO main.files_due SELECT * FROM source.files_due')
  copy.run('INSERT OR IGNORE INTO main.files_due (id, at) SELECT file_id, ? FROM source.push_files', [now])
}

function describe(copy: Database): Omit<KeylessCopy, 'damage'> {
  const count = (table: string) => numberIn(copy, `SELECT count(*) FROM ${table}`)
  const verifiers = copy
    .query<{ number: number; verifier: Uint8Array }, []>('SELECT number, verifier FROM instance_keys')
    .all()
  const schema = numberIn(copy, 'PRAGMA user_version')
  return { schema, pushes: count('pushes'), accounts: count('accounts'), verifiers }
}

/** Finds unreadable rows that the raw copy took over unseen. */
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
