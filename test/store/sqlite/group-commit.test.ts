// The rules of group commit: a failing step fails alone, a lost transaction fails as a whole, and nothing is
// stored by half.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, jest, spyOn, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGroupCommit, type GroupCommit } from '../../../src/store/sqlite/group-commit.ts'
import { pass, passUntil } from '../../support/timers.ts'
import { waitUntil } from '../../support/waiting.ts'

let folder: string
let database: Database
let commits: GroupCommit
let fatal: unknown[]
let full: number

const noteFull = () => {
  full += 1
  return false
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'oncebox-commit-'))
  database = new Database(join(folder, 'test.db'), { create: true, readwrite: true })
  database.run('PRAGMA journal_mode = WAL')
  database.run('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)')
  fatal = []
  full = 0
  commits = createGroupCommit({ database, onFatal: (cause) => fatal.push(cause), onFull: noteFull })
})

afterEach(() => {
  database.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs steps in one batch, even if the machine takes longer for the first step than a batch may take. */
async function inOneBatch(steps: (() => void)[]) {
  const clock = spyOn(performance, 'now').mockReturnValue(performance.now())
  return Promise.allSettled(steps.map((work) => commits.transact(work))).finally(() => clock.mockRestore())
}

const write = (text: string) => () => void database.run('INSERT INTO notes (text) VALUES (?)', [text])
const notes = () =>
  database
    .query<{ text: string }, []>('SELECT text FROM notes ORDER BY id')
    .all()
    .map(({ text }) => text)

test('waiting steps are committed together and resolve in order', async () => {
  const results = await Promise.all([1, 2, 3].map((n) => commits.transact(() => n * 10)))
  expect(results).toEqual([10, 20, 30])
})

test('a step that throws is undone alone', async () => {
  const outcomes = await Promise.allSettled([
    commits.transact(write('a')),
    commits.transact(() => {
      write('half')()
      throw new Error('no')
    }),
    commits.transact(write('b')),
  ])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(notes()).toEqual(['a', 'b'])
})

test('a full disk that ends the transaction rejects every step of the batch', async () => {
  const pages = database.query<{ page_count: number }, []>('PRAGMA page_count').get()?.page_count ?? 0
  database.run(`PRAGMA max_page_count = ${pages + 2}`)
  const outcomes = await Promise.allSettled([
    commits.transact(write('a')),
    commits.transact(write('x'.repeat(100_000))),
    commits.transact(write('b')),
  ])
  expect(outcomes.map(({ status }) => status)).not.toContain('fulfilled' as never)
  for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { code: 'disk_full' } })
  expect(notes()).toEqual([])
  expect(database.inTransaction).toBe(false)
  expect(full).toBeGreaterThan(0)
  database.run('PRAGMA max_page_count = 100000')
  await commits.transact(write('after'))
  expect(notes()).toEqual(['after'])
})

test('a step that ends the transaction itself rejects the whole batch', async () => {
  const outcomes = await inOneBatch([write('a'), () => void database.run('ROLLBACK'), write('b')])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(notes()).toEqual([])
})

test('a commit that fails for another reason rejects every step and is fatal', async () => {
  database.run('PRAGMA foreign_keys = ON')
  database.run('CREATE TABLE children (note INTEGER REFERENCES notes (id) DEFERRABLE INITIALLY DEFERRED)')
  const breaking = () => void database.run('INSERT INTO children VALUES (99)')
  const outcomes = await inOneBatch([write('a'), breaking])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(fatal).toHaveLength(1)
  expect(notes()).toEqual([])
})

test('more steps than fit into a batch all run', async () => {
  await Promise.all(Array.from({ length: 1_000 }, (_, n) => commits.transact(write(String(n)))))
  expect(notes()).toEqual(Array.from({ length: 1_000 }, (_, n) => String(n)))
})

test('waiting for another process that writes does not block the event loop', async () => {
  const other = new Database(join(folder, 'test.db'))
  other.run('BEGIN IMMEDIATE')
  const writing = commits.transact(write('patient'))
  let ticks = 0
  const ticking = setInterval(() => (ticks += 1), 5)
  // If the wait blocked the event loop, the write would be refused before the first tick.
  const first = await Promise.race([
    waitUntil(() => ticks > 5).then(() => 'ticks'),
    writing.catch(() => 'refused'),
  ])
  clearInterval(ticking)
  expect(first).toBe('ticks')
  other.run('ROLLBACK')
  await writing
  expect(notes()).toEqual(['patient'])
  other.close()
})

test('a step that has waited for five seconds is refused as overloaded', async () => {
  const other = new Database(join(folder, 'test.db'))
  other.run('BEGIN IMMEDIATE')
  jest.useFakeTimers()
  const outcome = commits.transact(write('late')).catch((cause) => cause)
  await pass(4_900)
  expect(await Promise.race([outcome, 'waits'])).toBe('waits')
  expect(await passUntil(outcome)).toMatchObject({ code: 'overloaded' })
  jest.useRealTimers()
  other.run('ROLLBACK')
  other.close()
  expect(notes()).toEqual([])
})

test('idle() waits for earlier steps', async () => {
  const writing = commits.transact(write('a'))
  await commits.idle()
  expect(notes()).toEqual(['a'])
  await writing
})

test.each([
  [2, false],
  [150, true],
])('%i steps that have waited for long count as overload: %p', async (steps, isCrowd) => {
  const writing = Array.from({ length: steps }, () => commits.transact(write('x')))
  expect(commits.isOverloaded()).toBe(false)
  Bun.sleepSync(300)
  expect(commits.isOverloaded()).toBe(isCrowd)
  expect(notes()).toEqual([])
  // Commits at once, without waiting for the event loop.
  commits.commitOverdue()
  expect(notes()).toHaveLength(steps)
  await Promise.all(writing)
})
