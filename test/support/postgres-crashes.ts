// A node whose connections are cut before and after each COMMIT, and its database as each cut found it.

import { spyOn } from 'bun:test'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ReservedSQL } from 'bun'
import type { Connect } from '../../src/store/postgres/engine/session.ts'
import type { Crash, CrashingEngine } from '../store/conformance/crashes.ts'
import { createTestClock } from './instance.ts'
import type { TestPostgres } from './postgres.ts'
import { makeNodeFolder, openTestNode } from './postgres-store.ts'

type Step = 'before COMMIT' | 'after COMMIT'
type Call = (...args: unknown[]) => Promise<unknown>

/** Crashes before every second COMMIT, whose transaction is then retried, and after each of the others. */
function cutting(connect: Connect, onStep: (step: Step) => Promise<void>): Connect {
  let commits = 0

  async function commit(run: () => Promise<unknown>): Promise<unknown> {
    commits += 1
    if (commits % 2 === 1) {
      await onStep('before COMMIT')
      throw Object.assign(new Error('the test refused the commit'), { errno: '40001' })
    }
    const answer = await run()
    await onStep('after COMMIT')
    return answer
  }

  const cut =
    (call: Call): Call =>
    (...args) => {
      const [statement] = args
      const text = Array.isArray(statement) ? statement[0] : statement
      return text === 'COMMIT' ? commit(() => call(...args)) : call(...args)
    }

  const wrap = (reserved: ReservedSQL): ReservedSQL =>
    new Proxy(reserved, {
      apply: (target, self, args) => cut((...given) => Reflect.apply(target, self, given))(...args),
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        const call = (...args: unknown[]) => Reflect.apply(value, target, args)
        return name === 'unsafe' ? cut(call) : call
      },
    })

  return (max, onclose) => {
    const client = connect(max, onclose)
    const reserve = async () => wrap(await client.reserve())
    return new Proxy(client, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target)
        if (name === 'reserve') return reserve
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }
}

/** Stops the deadlines of a node while copying, which is no part of an operation. */
function holdTime() {
  const elapsed = performance.now.bind(performance)
  let held = 0
  let heldSince: number | null = null
  const spy = spyOn(performance, 'now').mockImplementation(() => (heldSince ?? elapsed()) - held)

  async function without(work: () => Promise<void>): Promise<void> {
    const began = elapsed()
    heldSince = began
    try {
      await work()
    } finally {
      held += elapsed() - began
      heldSince = null
    }
  }

  return { without, end: () => spy.mockRestore() }
}

export async function openCrashingNode(postgres: Omit<TestPostgres, 'stop'>): Promise<CrashingEngine> {
  const database = await postgres.newEmptyDatabase()
  const { dataDir, remove } = makeNodeFolder()
  const copies = mkdtempSync(join(tmpdir(), 'oncebox-crashes-'))
  const clock = createTestClock()
  const crashes: Crash[] = []
  const onError = () => undefined
  const stopwatch = holdTime()

  /** Ends all connections, as a crash does, and copies the database. */
  const crash = (step: Step) => stopwatch.without(() => copyAll(step))

  async function copyAll(step: Step): Promise<void> {
    const name = `crash_${crashes.length}`
    const folder = join(copies, name)
    const copy = await postgres.copyDatabase(database, name)
    cpSync(dataDir, join(folder, 'data'), { recursive: true, filter: (path) => !path.endsWith('.lock') })
    cpSync(join(dataDir, '..', 'instance.key'), join(folder, 'instance.key'))
    const time = clock.now()
    crashes.push({
      step,
      open: async () => {
        const itsClock = createTestClock(time)
        await forgetPlace(copy)
        const store = await openTestNode({ dataDir: join(folder, 'data'), connect: copy, clock: itsClock })
        return { store, clock: itsClock, reopen: async () => undefined, close: store.close }
      },
    })
  }

  const store = await openTestNode({ dataDir, clock, connect: database.connect, beatMs: 1e9, onError })
  await store.close()
  const connect = cutting(database.connect, crash)
  const cut = await openTestNode({ dataDir, clock, connect, beatMs: 1e9, onError })
  return {
    store: cut,
    clock,
    reopen: async () => undefined,
    listCrashes: () => [...crashes],
    close: async () => {
      await cut.close()
      stopwatch.end()
      await database.close()
      remove()
      rmSync(copies, { recursive: true, force: true })
    },
  }
}

/** Clears the location, because a copy at another place would be refused. */
async function forgetPlace(connect: Connect): Promise<void> {
  const sql = connect(1)
  await sql.unsafe('UPDATE oncebox.instance SET place = NULL')
  await sql.close({ timeout: 0 })
}
