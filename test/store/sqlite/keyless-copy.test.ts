// The copy of a database that gives access to nothing: what it contains, and the limit on its size.

import { Database, SQLiteError } from 'bun:sqlite'
import { afterEach, beforeAll, beforeEach, expect, spyOn, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openKeylessCopy } from '../../../src/store/sqlite/keyless-copy.ts'
import { openTestStore, storePush } from '../../support/store.ts'

const PAGE_BYTES = 4096
const PUSHES = 2_000

let room: string
let source: string
let path: string
let made: Buffer

beforeAll(async () => {
  const opened = await openTestStore()
  await Promise.all(Array.from({ length: PUSHES }, () => storePush(opened)))
  await opened.store.close()
  made = readFileSync(join(opened.dataDir, 'oncebox.db'))
  rmSync(opened.dataDir, { recursive: true })
})

beforeEach(() => {
  room = mkdtempSync(join(tmpdir(), 'oncebox-copy-'))
  source = join(room, 'oncebox.db')
  path = join(room, 'copy.db')
  writeFileSync(path, '')
  writeFileSync(source, made)
})

afterEach(() => rmSync(room, { recursive: true, force: true }))

function copy({ maxBytes, isServed = false }: { maxBytes?: number; isServed?: boolean } = {}): number {
  const options = { source, path, ...(maxBytes === undefined ? {} : { maxBytes }) }
  const { database, write } = openKeylessCopy(options)
  try {
    return write({ isServed })
  } finally {
    database.close()
  }
}

function read<T>(file: string, sql: string): T[] {
  const database = new Database(file, { readonly: true })
  try {
    return database.query<T, []>(sql).all()
  } finally {
    database.close()
  }
}

/** The pages of a table or an index, the root first. */
function pagesOf(name: string): number[] {
  return read<{ pageno: number }>(
    source,
    `SELECT pageno FROM dbstat WHERE name = '${name}' ORDER BY path`,
  ).map(({ pageno }) => pageno)
}

function spoil(...pages: number[]): void {
  const bytes = readFileSync(source)
  for (const page of pages) bytes.fill(0xff, (page - 1) * PAGE_BYTES, page * PAGE_BYTES)
  writeFileSync(source, bytes)
}

const countIn = (table: string) => read<{ n: number }>(path, `SELECT count(*) AS n FROM ${table}`)[0]?.n

test('an intact database is copied in full', () => {
  expect(copy()).toBe(0)
  for (const table of ['pushes', 'push_state', 'audit_entries']) expect(countIn(table)).toBe(PUSHES)
  for (const table of ['push_secrets', 'push_keys', 'bucket_folder']) expect(countIn(table)).toBe(0)
})

test.each(['pushes', 'audit_entries', 'push_state'])(
  'a database with a damaged page of %s cannot be copied',
  (table) => {
    spoil(pagesOf(table).at(-3) ?? 0)
    expect(() => copy()).toThrow('malformed')
  },
)

test('a database with a damaged schema cannot be copied', () => {
  spoil(1)
  expect(() => copy()).toThrow(/not a database|malformed/)
})

test('a copy never exceeds its maximum size', () => {
  expect(() => copy({ maxBytes: 40 * PAGE_BYTES })).toThrow('full')
  expect(readFileSync(path).length).toBeLessThanOrEqual(40 * PAGE_BYTES)
})

test('a copy locks out no writer: it is made during a transaction of the server', () => {
  const server = new Database(source)
  server.run('PRAGMA journal_mode = WAL')
  server.run('BEGIN IMMEDIATE')
  expect(copy()).toBe(0)
  server.run('COMMIT')
  server.close()
})

/**
 * Writes, then checkpoints the WAL. Returns false if another process prevented it, after which a server
 * retries.
 */
function emptiesLog(server: Database): boolean {
  try {
    server.run('UPDATE instance SET clock_mark = clock_mark + 1')
    return server.query<{ busy: number }, []>('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy === 0
  } catch (cause) {
    if (cause instanceof SQLiteError && cause.code === 'SQLITE_BUSY') return false
    throw cause
  }
}

/** A server tries to truncate its WAL four times a second. */
const TRIES_EVERY_MS = 250

test('a server can truncate its WAL in each pause of a concurrent copy', () => {
  const server = new Database(source)
  server.run('PRAGMA journal_mode = WAL')
  server.run('PRAGMA busy_timeout = 0')
  const emptied: boolean[] = []
  const sleepSync = spyOn(Bun, 'sleepSync').mockImplementation((ms) => {
    emptied.push(ms > TRIES_EVERY_MS && emptiesLog(server))
  })
  try {
    expect(copy({ isServed: true })).toBe(0)
  } finally {
    sleepSync.mockRestore()
    server.close()
  }
  expect(emptied.length).toBeGreaterThan(1)
  expect(emptied).not.toContain(false)
  expect(countIn('pushes')).toBe(PUSHES)
})

test('an entry that reuses the number of a push purged during the copy is in its own push’s log', () => {
  const server = new Database(source)
  server.run('PRAGMA journal_mode = WAL')
  const addEntry = (push: number) => {
    server.run(
      `INSERT INTO audit_entries (push_id, previous, kind, at, ip, user_agent, referrer)
        SELECT push_id, last_entry, 'view', 0, '', '', '' FROM push_state WHERE push_id = ?`,
      [push],
    )
    server.run('UPDATE push_state SET last_entry = last_insert_rowid() WHERE push_id = ?', [push])
  }
  addEntry(1)
  let pauses = 0
  const sleepSync = spyOn(Bun, 'sleepSync').mockImplementation(() => {
    pauses += 1
    // By now the first slice has been copied.
    if (pauses !== 2) return
    for (const table of ['audit_entries', 'push_state']) server.run(`DELETE FROM ${table} WHERE push_id = 1`)
    addEntry(PUSHES)
  })
  try {
    expect(copy({ isServed: true })).toBe(0)
  } finally {
    sleepSync.mockRestore()
    server.close()
  }
  const last = `SELECT push_id AS push FROM audit_entries JOIN push_state USING (push_id)
    WHERE id = last_entry AND push_id = ${PUSHES}`
  expect(read(path, last)).toEqual([{ push: PUSHES }])
})
