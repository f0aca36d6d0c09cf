// A write-ahead log that was cut off is as after a power cut; one that was altered in the middle is refused.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { dataFolder } from '../../../../src/store/folder/data-folder.ts'
import { lockFolder } from '../../../../src/store/folder/folder-lock.ts'
import { openAccountStore } from '../../../../src/store/opening/sqlite-accounts.ts'
import { findDamage, requireIntactLog } from '../../../../src/store/sqlite/integrity/log-check.ts'
import { openTestStore, storePush } from '../../../support/store.ts'

const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31)
const FRAME = 24 + 4096

let folder: string
let path: string
let whole: Buffer
/** Where the last two transactions, of one page each, begin: damage in the last looks like a power cut. */
let lastTwo: number

const write = (database: Database, text: string) => database.run('INSERT INTO notes VALUES (?)', [text])
const logOf = (database: string) => readFileSync(`${database}-wal`)

beforeAll(() => {
  console.log(`FUZZ_SEED=${SEED}`)
  folder = mkdtempSync(join(tmpdir(), 'oncebox-log-'))
  path = join(folder, 'oncebox.db')
  const database = new Database(path)
  for (const pragma of ['journal_mode = WAL', 'wal_autocheckpoint = 0']) database.run(`PRAGMA ${pragma}`)
  database.run('CREATE TABLE notes (text TEXT)')
  for (let n = 0; n < 20; n += 1) write(database, `note ${n} ${'x'.repeat(n * 700)}`)
  database.run('CREATE TABLE others (text TEXT)')
  lastTwo = logOf(path).length
  for (const _ of [1, 2]) database.run("INSERT INTO others VALUES ('x')")
  whole = logOf(path)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('a whole log is intact', () => {
  expect(findDamage(whole)).toBeNull()
  expect(findDamage(Buffer.alloc(0))).toBeNull()
})

test('cut off anywhere, it is intact, as after a power cut', () => {
  const lengths = fc.sample(fc.nat({ max: whole.length }), { seed: SEED, numRuns: 200 })
  for (const length of lengths)
    expect({ length, at: findDamage(whole.subarray(0, length)) }).toEqual({ length, at: null })
})

test('with a byte altered anywhere before the last two transactions it is damaged, from that frame on', () => {
  const flips = fc.record({ at: fc.nat({ max: lastTwo - 1 }), by: fc.integer({ min: 1, max: 255 }) })
  for (const { at, by } of fc.sample(flips, { seed: SEED, numRuns: 300 })) {
    const altered = Buffer.from(whole)
    altered[at] = (altered[at] ?? 0) ^ by
    const frame = at < 32 ? 0 : at - ((at - 32) % FRAME)
    expect({ at, by, damage: findDamage(altered) }).toEqual({ at, by, damage: frame })
  }
})

test('altered in the last transaction it is intact, as after a power cut', () => {
  const altered = Buffer.from(whole)
  altered[lastTwo + FRAME + 100] = (altered[lastTwo + FRAME + 100] ?? 0) ^ 1
  expect(findDamage(altered)).toBeNull()
})

test('altered in the last transaction but one it is damaged, because another one followed its commit', () => {
  const altered = Buffer.from(whole)
  altered[lastTwo + 100] = (altered[lastTwo + 100] ?? 0) ^ 1
  expect(findDamage(altered)).toBe(lastTwo)
})

test('the rest of a longer log behind a shorter one is not damage', () => {
  const place = join(folder, 'again.db')
  const database = new Database(place)
  for (const pragma of ['journal_mode = WAL', 'wal_autocheckpoint = 0']) database.run(`PRAGMA ${pragma}`)
  database.run('CREATE TABLE notes (text TEXT)')
  for (let n = 0; n < 20; n += 1) write(database, 'before')
  database.run('PRAGMA wal_checkpoint(RESTART)')
  const long = logOf(place).length
  for (let n = 0; n < 5; n += 1) write(database, 'after')
  expect(logOf(place).length).toBe(long)
  expect(findDamage(logOf(place))).toBeNull()
  database.close()
})

test('a header of zeros was never written', () => {
  const never = Buffer.from(whole)
  never.fill(0, 0, 32)
  expect(findDamage(never)).toBeNull()
})

test('a damaged log is refused, and works again after the advised truncation', () => {
  const place = join(folder, 'copy.db')
  writeFileSync(place, readFileSync(path))
  const altered = Buffer.from(whole)
  altered[32 + FRAME * 10] = 0xff
  writeFileSync(`${place}-wal`, altered)
  let message = ''
  try {
    requireIntactLog(place)
  } catch (cause) {
    message = String(cause)
  }
  const at = Number(/truncate -s (\d+)/.exec(message)?.[1])
  expect(at).toBe(32 + FRAME * 10)
  expect(message).toContain(`${place}-wal`)
  truncateSync(`${place}-wal`, at)
  requireIntactLog(place)
  const database = new Database(place)
  const { n } = database.query<{ n: number }, []>('SELECT count(*) AS n FROM notes').get() ?? { n: 0 }
  expect(n).toBeGreaterThan(0)
  expect(n).toBeLessThan(21)
  database.close()
})

test('server and commands both refuse a folder whose log is damaged, and leave it as it is', async () => {
  const opened = await openTestStore()
  const { dataDir, clock } = opened
  for (let n = 0; n < 5; n += 1) await storePush(opened)
  // As kill -9 leaves it.
  const killed = mkdtempSync(join(tmpdir(), 'oncebox-killed-'))
  cpSync(dataDir, killed, { recursive: true, filter: (source) => !source.endsWith('.lock') })
  const log = join(killed, 'oncebox.db-wal')
  const altered = readFileSync(log)
  const at = 32 + FRAME + 100
  altered[at] = (altered[at] ?? 0) ^ 1
  writeFileSync(log, altered)
  expect(() => openAccountStore({ dataDir: killed, now: clock.now })).toThrow('is damaged at byte')
  await expect(openTestStore({ dataDir: killed, clock })).rejects.toThrow('is damaged at byte')
  expect(readFileSync(log)).toEqual(altered)
  // A server that has not come to look at it yet is waited for, in a process of its own.
  const lock = await lockFolder(dataFolder(killed), { onWait: () => undefined })
  const command = Bun.spawn([process.execPath, 'src/main.ts', 'user', 'list', '--data-dir', killed], {
    stdout: 'ignore',
    stderr: 'pipe',
  })
  await Bun.sleep(1_000)
  expect(command.exitCode).toBeNull()
  expect(readFileSync(log)).toEqual(altered)
  lock.release()
  expect(await new Response(command.stderr).text()).toContain('is damaged at byte')
  expect(readFileSync(log)).toEqual(altered)
  // Beside a server it is not looked at: that has done so.
  await openAccountStore({ dataDir, now: clock.now }).close()
  await opened.close()
  rmSync(killed, { recursive: true, force: true })
})
