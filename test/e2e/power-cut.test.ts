// A power cut at any moment: every answer given before it is still true, whatever else the disk kept.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect } from 'bun:test'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lookupOf } from '../../src/crypto/url-token.ts'
import { dataFolder } from '../../src/store/folder/data-folder.ts'
import { readKeyring } from '../../src/store/folder/key-file.ts'
import { buildChild } from '../support/built-child.ts'
import { needs } from '../support/needs.ts'
import type { Told } from '../support/power-cut-child.ts'
import {
  buildRecorder,
  type Cut,
  cuts,
  type Event,
  leftovers,
  makeRoom,
  readRecord,
} from '../support/power-cuts.ts'

/**
 * The added latency of a sync in milliseconds. If it is above 3, steps are batched before they are committed.
 */
const SYNC_MS = process.env.SYNC_MS ?? '2'
/** The number of random parts of unsynced writes tried at each cut. */
const PARTS = Number(process.env.POWER_CUT_PARTS ?? 3)

const { room, clear } = makeRoom()
const recorder = buildRecorder(room)
let program = ''
beforeAll(async () => {
  program = await buildChild('power-cut-child.ts')
})
afterAll(clear)

async function run(dataDir: string, story: string, env: Record<string, string> = {}): Promise<number | null> {
  const child = Bun.spawn([process.execPath, program, dataDir, story], {
    env: {
      ...process.env,
      LD_PRELOAD: recorder ?? '',
      RECORD_UNDER: dataDir,
      RECORD_TO: `${dataDir}.record`,
      ...env,
    },
    stdout: 'ignore',
    stderr: 'inherit',
  })
  await child.exited
  return child.exitCode
}

type Known = { urlToken: string; seen: number; isOver: boolean }

/** Returns the facts about each push in the answers before a cut. */
function readAnswers(answers: readonly string[]): Known[] {
  const known = new Map<string, Known>()
  for (const line of answers) {
    const { deed, name, urlToken, isOver }: Told = JSON.parse(line)
    if (urlToken !== undefined) known.set(name, { urlToken, seen: 0, isOver: false })
    const push = known.get(name)
    if (push === undefined) continue
    if (deed === 'view' && isOver !== true) push.seen += 1
    push.isOver ||= isOver === true
  }
  return [...known.values()]
}

const STATES = `
  SELECT hex(lookup) AS lookup, views, expired_on AS endedAt,
    (SELECT count(*) FROM push_secrets WHERE push_id = id) AS secrets
  FROM pushes JOIN push_state ON push_id = id`

type State = { lookup: string; views: number; endedAt: number | null; secrets: number }

/** Results by the hash of the files: three of four cuts leave the same files as another one. */
const opened = new Map<bigint, Map<string, State>>()

/** Starts on what a cut has left. Returns its pushes by their lookups in hexadecimal digits. */
function readStates(files: Map<string, Buffer>): Map<string, State> {
  // An empty journal counts as none.
  const left = [...files].filter(([name, bytes]) => bytes.length > 0 && name.includes('oncebox.db')).sort()
  const hash = left.reduce((seed, [name, bytes]) => hashOf(bytes, hashOf(name, seed)), 0n)
  const states = opened.get(hash) ?? openLeft(left)
  opened.set(hash, states)
  return states
}

const hashOf = (data: string | Buffer, seed: bigint) => Bun.hash.wyhash(data, seed)

function openLeft(left: [string, Buffer][]): Map<string, State> {
  const path = join(room, 'left.db')
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${path}${suffix}`, { force: true })
  for (const [name, bytes] of left) writeFileSync(name.replace(/^.*oncebox\.db/, path), bytes)
  if (!existsSync(path)) return new Map()
  const database = new Database(path)
  try {
    expect(database.query('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    const hasTables = database.query("SELECT 1 FROM sqlite_schema WHERE name = 'pushes'").get() !== null
    const states = hasTables ? database.query<State, []>(STATES).all() : []
    return new Map(states.map((state) => [state.lookup, state]))
  } finally {
    database.close()
  }
}

/** Compares what a cut has left with the answers before it. */
function check(files: Map<string, Buffer>, known: readonly { push: Known; lookup: string }[]): void {
  const states = readStates(files)
  const wrong = known
    .map(({ push, lookup }) => ({ push, state: states.get(lookup) }))
    .filter(({ push, state }) => state === undefined || !isTrue(push, state))
  expect(wrong).toEqual([])
}

function isTrue(push: Known, { views, endedAt, secrets }: State): boolean {
  return views >= push.seen && (!push.isOver || endedAt !== null) && secrets === (endedAt === null ? 1 : 0)
}

function checkCuts(dataDir: string, all: Iterable<Cut>): number {
  const [key] = readKeyring(dataFolder(dataDir), null).keys
  if (key === undefined) throw new Error('no key')
  let checked = 0
  for (const cut of all) {
    const known = readAnswers(cut.answers).map((push) => ({
      push,
      lookup: lookupOf(push.urlToken, key.lookup).toString('hex').toUpperCase(),
    }))
    for (const files of leftovers(cut, PARTS)) {
      check(files, known)
      checked += 1
    }
  }
  return checked
}

function* laterThan(answered: number, all: Iterable<Cut>): Generator<Cut> {
  for (const cut of all) if (cut.answers.length > answered) yield cut
}

/** Yields every third cut, enough to hit each restart of the WAL. */
function* everyThird(all: Iterable<Cut>): Generator<Cut> {
  let n = 0
  for (const cut of all) {
    n += 1
    if (n % 3 === 0) yield cut
  }
}

needs('cc').test('every answer before a power cut is true after it', async () => {
  const dataDir = join(room, 'cut')
  await run(dataDir, 'a', { SYNC_MS })
  const events = readRecord(`${dataDir}.record`)
  expect(events.filter(({ kind }) => kind === 'answer').length).toBeGreaterThan(90)
  expect(events.filter((event) => event.kind === 'answer' && event.text.includes('"list"'))).not.toBeEmpty()
  expect(events.filter(({ kind }) => kind === 'sync returns').length).toBeGreaterThan(10)
  const started = events.findIndex(({ kind }) => kind === 'answer')
  const syncs = events.slice(0, started).filter(({ kind }) => kind === 'sync returns')
  // Limit the syncs before the server answers: each may take 20 ms, while users wait.
  expect(syncs.length).toBeLessThanOrEqual(15)
  const checked = checkCuts(dataDir, cuts(events))
  console.log(`${checked} leftovers of ${events.length} events`)
})

needs('cc').test('every answer is still true when the WAL restarts in the same file repeatedly', async () => {
  const dataDir = join(room, 'anew')
  await run(dataDir, 'a', { SYNC_MS, LOG_BYTES: '20000' })
  const events = readRecord(`${dataDir}.record`)
  expect(events.filter(({ kind }) => kind === 'answer').length).toBeGreaterThan(90)
  expect(countBeginnings(events)).toBeGreaterThan(2)
  const checked = checkCuts(dataDir, everyThird(cuts(events)))
  console.log(`${checked} leftovers of ${events.length} events`)
})

/** Counts how often an untruncated WAL was written from its beginning. */
function countBeginnings(events: readonly Event[]): number {
  let [count, end] = [0, 0]
  for (const event of events) {
    if (event.kind !== 'change' || !event.change.path.endsWith('-wal')) continue
    const { change } = event
    if ('size' in change) end = change.size
    else if ('data' in change) {
      if (change.offset === 0 && end > 0) count += 1
      end = Math.max(end, change.offset + change.data.length)
    }
  }
  return count
}

needs('cc').test('after a failed sync, the next start loses no acknowledged change', async () => {
  const dataDir = join(room, 'failed')
  await run(dataDir, 'a', { SYNC_MS, FAIL_SYNC: '9' })
  const before = readRecord(`${dataDir}.record`)
  expect(before.filter(({ kind }) => kind === 'sync fails')).toHaveLength(1)
  const answered = before.filter(({ kind }) => kind === 'answer').length
  await run(dataDir, 'b', { SYNC_MS })
  const events = readRecord(`${dataDir}.record`)
  expect(events.filter(({ kind }) => kind === 'answer').length).toBeGreaterThan(answered + 90)
  // For an earlier cut, while a start writes again what the disk has lost, the check of the start after it
  // finds the damage.
  checkCuts(dataDir, everyThird(laterThan(answered, cuts(events))))
})
