// Which operations wait for a sync: those whose commit or read is not covered by a finished sync yet.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLogEmptier, openLogSync } from '../../../src/store/sqlite/disk-threads.ts'
import { createGroupCommit, type GroupCommit } from '../../../src/store/sqlite/group-commit.ts'
import { createSyncs } from '../../../src/store/sqlite/syncs.ts'
import { waitUntil } from '../../support/waiting.ts'

/** The size of a long WAL, in bytes. */
const LIMIT = 100_000

let folder: string
let database: Database
let commits: GroupCommit
let syncs: PromiseWithResolvers<void>[]
let fatal: unknown[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'oncebox-syncs-'))
  database = new Database(join(folder, 'test.db'), { create: true, readwrite: true })
  database.run('PRAGMA journal_mode = WAL')
  database.run('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)')
  syncs = []
  fatal = []
  const sync = () => {
    const begun = Promise.withResolvers<void>()
    syncs.push(begun)
    return begun.promise
  }
  commits = createGroupCommit({ database, sync, onFatal: (cause) => fatal.push(cause) })
})

afterEach(() => {
  database.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs a step, and records its name once it has settled. */
const settled: string[] = []
beforeEach(() => void settled.splice(0))

function work(name: string, { writes = true } = {}): Promise<unknown> {
  const run = () => {
    if (writes) database.run('INSERT INTO notes (text) VALUES (?)', [name])
  }
  return commits.transact(run).then(
    () => settled.push(name),
    () => settled.push(`${name} failed`),
  )
}

const countNotes = () => database.query<{ n: number }, []>('SELECT count(*) AS n FROM notes').get()?.n
/** Lets all due timers and messages run. */
const turns = () => Bun.sleep(30)

async function begun(count: number): Promise<void> {
  await waitUntil(() => syncs.length === count)
}

test('a step settles when a sync that began after its commit returns, not when the sync begins', async () => {
  void work('first')
  await begun(1)
  await turns()
  expect([countNotes(), settled]).toEqual([1, []])
  syncs[0]?.resolve()
  await waitUntil(() => settled.length === 1)
})

test('a step committed during a sync waits for the next one', async () => {
  void work('first')
  await begun(1)
  // Above this number, steps run before the sync has ended.
  const later = Array.from({ length: 40 }, (_, n) => work(`later ${n}`))
  await waitUntil(() => countNotes() === 41)
  syncs[0]?.resolve()
  // A busy machine runs several batches, each with a sync.
  await waitUntil(() => syncs.length > 1)
  await turns()
  expect(settled).toEqual(['first'])
  for (const { resolve } of syncs) resolve()
  await Promise.all(later)
  expect(settled).toHaveLength(41)
})

test('a few steps gather until the running sync returns, and share the next one', async () => {
  void work('first')
  await begun(1)
  const later = [work('second'), work('third')]
  await turns()
  expect(countNotes()).toBe(1)
  syncs[0]?.resolve()
  await begun(2)
  expect(countNotes()).toBe(3)
  syncs[1]?.resolve()
  await Promise.all(later)
  expect(syncs).toHaveLength(2)
})

test('a read-only step waits for the commits that it may have read', async () => {
  void work('first')
  await begun(1)
  const readers = Array.from({ length: 40 }, (_, n) => work(`reader ${n}`, { writes: false }))
  await turns()
  expect(settled).toEqual([])
  syncs[0]?.resolve()
  await Promise.all(readers)
  // The reads needed no sync of their own.
  expect(syncs).toHaveLength(1)
  await work('alone', { writes: false })
  expect(syncs).toHaveLength(1)
})

test('an answer that something has ended waits for the sync of that end', async () => {
  await commits.durable()
  void work('end')
  await begun(1)
  const told = commits.durable().then(() => settled.push('told'))
  await turns()
  expect(settled).toEqual([])
  syncs[0]?.resolve()
  await told
  expect(settled).toEqual(['end', 'told'])
})

test('after a failed sync nothing is acknowledged, and the process ends', async () => {
  void work('first')
  await begun(1)
  void work('second')
  syncs[0]?.reject(new Error('EIO'))
  await waitUntil(() => settled.length === 2)
  expect(fatal).toEqual([new Error('EIO')])
  await work('third')
  // Reads of the unsynced commits are not acknowledged either.
  await expect(commits.durable()).rejects.toThrow('EIO')
  expect(settled).toEqual(['first failed', 'second failed', 'third failed'])
  expect(syncs).toHaveLength(1)
})

test('the stop of a server waits for the running sync', async () => {
  void work('last')
  await begun(1)
  const idle = commits.idle().then(() => settled.push('idle'))
  await turns()
  expect(settled).toEqual([])
  syncs[0]?.resolve()
  await idle
  expect(settled).toEqual(['last', 'idle'])
})

test('a hanging sync is reported as a problem', async () => {
  void work('first')
  await begun(1)
  expect(await commits.findWriteProblem()).toBeNull()
  await Bun.sleep(1_100)
  expect(await commits.findWriteProblem()).toContain('the disk does not answer')
  for (const sync of syncs) sync.resolve()
})

test('steps that wait long for several quick syncs count as overload', async () => {
  const crowd = Array.from({ length: 132 }, (_, n) => work(`crowd ${n}`))
  Bun.sleepSync(300)
  expect(commits.isOverloaded()).toBe(true)
  for (let next = 0; settled.length < 132; next += 1) {
    await begun(next + 1)
    syncs[next]?.resolve()
    await turns()
  }
  await Promise.all(crowd)
  expect(commits.isOverloaded()).toBe(false)
})

test('calls during a sync of a real disk are answered by the next one, and all fail after a failed one', async () => {
  database.run("INSERT INTO notes (text) VALUES ('real')")
  const log = openLogSync(join(folder, 'test.db'), LIMIT)
  const areLong = await Promise.all(Array.from({ length: 50 }, () => log.sync()))
  expect(new Set(areLong)).toEqual(new Set([false]))
  rmSync(join(folder, 'test.db-wal'))
  const late = await Promise.allSettled([log.sync(), log.sync(), log.sync().then(() => log.sync())])
  expect(late.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  // The sync fails although the WAL exists again.
  writeFileSync(join(folder, 'test.db-wal'), '')
  const [again] = await Promise.allSettled([log.sync()])
  expect(again?.status).toBe('rejected')
  await log.close()
})

test('a dead disk thread blocks neither a request nor the stop of the server', async () => {
  database.run("INSERT INTO notes (text) VALUES ('real')")
  const workers: Worker[] = []
  const { Worker: Real } = globalThis
  globalThis.Worker = class extends Real {
    constructor(...args: ConstructorParameters<typeof Real>) {
      super(...args)
      workers.push(this)
    }
  }
  const log = openLogSync(join(folder, 'test.db'), LIMIT)
  globalThis.Worker = Real
  await log.sync()
  for (const worker of workers) {
    worker.terminate()
    worker.onerror?.(new ErrorEvent('error', { message: 'out of memory' }))
  }
  await expect(log.sync()).rejects.toThrow('ended: out of memory')
  await log.close()
})

test('the threads of a real disk sync the WAL, and report it within a long turn of the event loop', async () => {
  database.run("INSERT INTO notes (text) VALUES ('real')")
  const log = openLogSync(join(folder, 'test.db'), LIMIT)
  // The thread runs from here on.
  await log.sync()
  let isTold = false
  void log.sync().then(() => {
    isTold = true
  })
  // The event loop learns of it only after this turn.
  Bun.sleepSync(500)
  log.notice()
  for (let turn = 0; turn < 4; turn += 1) await Promise.resolve()
  expect(isTold).toBe(true)
  await log.close()
})

test('if one sync answers several calls, the last call resolves first', async () => {
  database.run("INSERT INTO notes (text) VALUES ('real')")
  let numbers = new Int32Array(new SharedArrayBuffer(0))
  const { Worker: Real } = globalThis
  class StandIn {
    postMessage(parts: { numbers: typeof numbers }) {
      numbers = parts.numbers
    }
    terminate() {}
  }
  globalThis.Worker = StandIn as unknown as typeof Worker
  const log = openLogSync(join(folder, 'test.db'), LIMIT)
  globalThis.Worker = Real
  const told: string[] = []
  const answer = () => {
    Atomics.store(numbers, 1, Atomics.load(numbers, 0))
    log.notice()
  }
  for (const name of ['first', 'second', 'third']) void log.sync().then(() => told.push(name))
  answer()
  for (let turn = 0; turn < 4; turn += 1) await Promise.resolve()
  expect(told).toEqual(['third', 'second', 'first'])
  const closed = log.close()
  await turns()
  answer()
  await closed
})

test('a WAL is long from its limit on, but not after it restarted in the same file', async () => {
  const path = join(folder, 'test.db')
  const write = (bytes: number) => database.run('INSERT INTO notes (text) VALUES (?)', ['x'.repeat(bytes)])
  write(1_000)
  const [log, emptier] = [openLogSync(path, LIMIT), openLogEmptier(path)]
  expect(await log.sync()).toBe(false)
  write(LIMIT)
  expect(await log.sync()).toBe(true)
  expect(await emptier.move()).toBe(true)
  write(1_000)
  expect([await log.sync(), statSync(`${path}-wal`).size > LIMIT]).toEqual([false, true])
  expect(await emptier.empty()).toBe(true)
  expect(await log.sync()).toBe(false)
  await Promise.all([log.close(), emptier.close()])
})

test('two groups that one sync covers settle in order, and count as one sync', async () => {
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const asked = [first, second]
  const told: string[] = []
  const quick = createSyncs({
    sync: () => asked.shift()?.promise ?? Promise.resolve(),
    onFailed: () => undefined,
    onReturned: () => void told.push('returned'),
  })
  for (const name of ['first', 'second']) quick.settle(() => void told.push(name), true)
  // Resolve in the order of the disk thread.
  second.resolve()
  first.resolve()
  await turns()
  expect(told).toEqual(['first', 'second', 'returned'])
})
