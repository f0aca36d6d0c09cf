// When the WAL is truncated: after a request, before or after the start, but never after the stop.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, jest, test } from 'bun:test'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCheckpointer } from '../../../src/store/sqlite/checkpoint.ts'
import { openLogEmptier } from '../../../src/store/sqlite/disk-threads.ts'
import { needs } from '../../support/needs.ts'
import { awaitOthers, pass } from '../../support/timers.ts'

const opened: { database: Database; folder: string }[] = []

afterEach(() => {
  jest.useRealTimers()
  for (const { database, folder } of opened.splice(0)) {
    database.close()
    rmSync(folder, { recursive: true, force: true })
  }
})

const fail = (cause: unknown) => {
  throw cause
}

function openDatabase() {
  const folder = mkdtempSync(join(tmpdir(), 'oncebox-checkpoint-'))
  const path = join(folder, 'test.db')
  const database = new Database(path)
  opened.push({ database, folder })
  database.run('PRAGMA journal_mode = WAL')
  database.run('CREATE TABLE entries (text TEXT)')
  const failures: unknown[] = []
  const state = { done: 0 }
  const report = {
    did: () => {
      state.done += 1
    },
    failed: (cause: unknown) => void failures.push(cause),
  }
  return { database, failures, state, report, logBytes: () => statSync(`${path}-wal`).size }
}

beforeEach(() => jest.useFakeTimers())
test('a request from before the start is served after it', async () => {
  const { database, state, report, logBytes } = openDatabase()
  const checkpointer = createCheckpointer(database, { onFatal: fail })
  checkpointer.request()
  expect(logBytes()).toBeGreaterThan(0)
  checkpointer.start(report)
  await pass(6_000)
  await checkpointer.stop()
  expect([state.done, logBytes()]).toEqual([1, 0])
})

test('a full disk causes a truncation of the WAL at once', async () => {
  const { database, state, report, logBytes } = openDatabase()
  const checkpointer = createCheckpointer(database, { onFatal: fail })
  checkpointer.start(report)
  checkpointer.makeRoom()
  await pass(500)
  await checkpointer.stop()
  expect([state.done, logBytes()]).toEqual([1, 0])
})

test('a long WAL is checkpointed at once, and still truncated when destroyed data is due', async () => {
  const { database, state, report, logBytes } = openDatabase()
  const checkpointer = createCheckpointer(database, { onFatal: fail })
  checkpointer.start(report)
  const version = () =>
    database.query<{ data_version: number }, []>('PRAGMA data_version').get()?.data_version
  const before = { bytes: logBytes(), version: version() }
  checkpointer.request()
  checkpointer.shorten()
  await awaitOthers(() => state.done > 0)
  expect([state.done, logBytes()]).toEqual([1, before.bytes])
  // The WAL restarts, and the server need not read its cached pages again.
  database.run("INSERT INTO entries VALUES ('later')")
  expect([logBytes(), version()]).toEqual([before.bytes, before.version])
  await awaitOthers(() => state.done > 1)
  await checkpointer.stop()
  expect([state.done, logBytes()]).toEqual([2, 0])
})

test('data that a command destroyed just before a checkpoint is truncated as well', async () => {
  const { database, state, report, logBytes } = openDatabase()
  const checkpointer = createCheckpointer(database, { onFatal: fail })
  checkpointer.start(report)
  // The command is killed before it truncates the WAL.
  const command = new Database(database.filename)
  try {
    command.run("INSERT INTO entries VALUES ('by a command')")
    checkpointer.shorten()
    await awaitOthers(() => state.done > 0)
    expect([state.done, logBytes() > 0]).toEqual([1, true])
    await pass(6_000)
    await awaitOthers(() => state.done > 1)
    await checkpointer.stop()
    expect(logBytes()).toBe(0)
  } finally {
    command.close()
  }
})

test('no timer is left after the stop, even if a request follows', async () => {
  const { database, state, failures, report } = openDatabase()
  const checkpointer = createCheckpointer(database, { onFatal: fail })
  checkpointer.start(report)
  checkpointer.makeRoom()
  await checkpointer.stop()
  checkpointer.makeRoom()
  await pass(10_000)
  expect([state.done, failures]).toEqual([0, []])
})

test('a long-running reader delays the truncation of the WAL, but no writer', async () => {
  jest.useRealTimers()
  const { database, logBytes } = openDatabase()
  const reader = new Database(database.filename)
  const emptier = openLogEmptier(database.filename)
  try {
    reader.run('BEGIN')
    reader.query('SELECT * FROM entries').all()
    database.run("INSERT INTO entries VALUES ('later')")
    let [isAsked, written] = [true, 0]
    const emptying = emptier.empty().finally(() => {
      isAsked = false
    })
    while (isAsked) {
      database.run("INSERT INTO entries VALUES ('meanwhile')")
      written += 1
      await Bun.sleep(1)
    }
    expect([await emptying, written > 0]).toEqual([false, true])
    reader.run('COMMIT')
    expect([await emptier.empty(), logBytes()]).toEqual([true, 0])
  } finally {
    reader.close()
    await emptier.close()
  }
})

test('the thread starts with the first request, because it would delay the start of the server', async () => {
  const { database, report } = openDatabase()
  const { Worker } = globalThis
  let threads = 0
  globalThis.Worker = class extends Worker {
    constructor(...given: ConstructorParameters<typeof Worker>) {
      super(...given)
      threads += 1
    }
  }
  try {
    const checkpointer = createCheckpointer(database, { onFatal: fail })
    checkpointer.start(report)
    expect(threads).toBe(0)
    checkpointer.makeRoom()
    await pass(500)
    await checkpointer.stop()
    expect(threads).toBe(1)
  } finally {
    globalThis.Worker = Worker
  }
})

needs('sh').test(
  'the WAL is truncated even if connections use up every file descriptor, because the thread keeps its own',
  async () => {
    const { database } = openDatabase()
    const child = join(import.meta.dir, '../../support/few-files-child.ts')
    const command = `ulimit -n 80; exec "$0" "$1" "$2"`
    const { success, stdout, stderr } = Bun.spawnSync([
      ...['sh', '-c', command, process.execPath],
      ...[child, database.filename],
    ])
    expect([success, stdout.toString(), stderr.toString()]).toEqual([true, 'true\n', ''])
  },
)
