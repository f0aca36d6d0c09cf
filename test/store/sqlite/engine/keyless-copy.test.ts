// The copy of a database that opens nothing: what it takes along, and that it is no larger than it may be.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type KeylessCopy, openKeylessCopy } from '../../../../src/store/sqlite/engine/keyless-copy.ts'
import { openTestStore, storePush } from '../../../support/store.ts'

const PAGE_BYTES = 4096
const PUSHES = 2_000

let room: string
let source: string
let path: string

beforeEach(async () => {
  room = mkdtempSync(join(tmpdir(), 'oncebox-copy-'))
  source = join(room, 'oncebox.db')
  path = join(room, 'copy.db')
  writeFileSync(path, '')
  const opened = await openTestStore()
  await Promise.all(Array.from({ length: PUSHES }, () => storePush(opened)))
  await opened.store.close()
  writeFileSync(source, readFileSync(join(opened.dataDir, 'oncebox.db')))
  rmSync(opened.dataDir, { recursive: true })
})

afterEach(() => rmSync(room, { recursive: true, force: true }))

function copy(maxBytes = Number.MAX_SAFE_INTEGER): KeylessCopy {
  const unfinished = openKeylessCopy({ source, path, maxBytes, endsAt: null })
  try {
    unfinished.write()
    return unfinished.check()
  } finally {
    unfinished.close()
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

test('an intact database is copied as it is', () => {
  expect(copy()).toMatchObject({ pushes: PUSHES, accounts: 0, damage: [] })
  for (const table of ['push_state', 'audit_entries']) expect(countIn(table)).toBe(PUSHES)
  for (const table of ['push_secrets', 'push_keys', 'bucket_folder']) expect(countIn(table)).toBe(0)
})

test.each(['pushes', 'audit_entries', 'push_state'])(
  'a database with a spoiled page of %s cannot be copied',
  (table) => {
    spoil(pagesOf(table).at(-3) ?? 0)
    expect(() => copy()).toThrow('malformed')
  },
)

test('a database whose schema is spoiled cannot be copied', () => {
  spoil(1)
  expect(() => copy()).toThrow(/not a database|malformed/)
})

test('a copy grows no larger than it may', () => {
  expect(() => copy(40 * PAGE_BYTES)).toThrow('full')
  expect(readFileSync(path).length).toBeLessThanOrEqual(40 * PAGE_BYTES)
})

test('what the log of a server has grown to meanwhile is written to the database', () => {
  const server = new Database(source)
  server.run('PRAGMA journal_mode = WAL')
  server.run('PRAGMA wal_autocheckpoint = 0')
  server.run('CREATE TABLE grown (text TEXT)')
  for (let n = 0; n < 100; n += 1) server.run('INSERT INTO grown VALUES (?)', ['x'.repeat(PAGE_BYTES)])
  expect(framesOf(source).written).toBe(0)
  copy()
  const { logged, written } = framesOf(source)
  expect(logged).toBeGreaterThan(100)
  expect(written).toBe(logged)
  server.close()
})

/** Frames of the write-ahead log, and how many of them are in the database (https://sqlite.org/walformat.html, 2.1). */
function framesOf(database: string): { logged: number; written: number } {
  const index = readFileSync(`${database}-shm`)
  const [mxFrame, nBackfill] = [16, 96]
  return { logged: index.readUInt32LE(mxFrame), written: index.readUInt32LE(nBackfill) }
}
