// The instance as a whole: its schema, its keys, its clock, its lock.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, jest, test } from 'bun:test'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { newKeyFile } from '../../../src/crypto/keyring.ts'
import { DAY, MINUTE } from '../../../src/domain/time.ts'
import { dataFolder } from '../../../src/store/folder/data-folder.ts'
import { besideServer, lockFolder } from '../../../src/store/folder/folder-lock.ts'
import { openFolderDatabase } from '../../../src/store/opening/folder-database.ts'
import { MIGRATIONS, migrate, schemaVersion } from '../../../src/store/sqlite/migrate.ts'
import { createTestClock, START } from '../../support/instance.ts'
import { openTestStore, storePush, type TestStore, VISIT } from '../../support/store.ts'
import { awaitOthers, pass, passUntil } from '../../support/timers.ts'

let opened: TestStore

beforeEach(async () => {
  opened = await openTestStore()
})

afterEach(() => opened.close().catch(() => undefined))

async function reopen(options: Parameters<typeof openTestStore>[0] = {}): Promise<void> {
  opened = await openTestStore({ dataDir: opened.dataDir, clock: opened.clock, ...options })
}

test('a migration that fails leaves the database as it was', () => {
  const database = new Database(':memory:')
  migrate(database)
  const before = schemaVersion(database)
  expect(() => migrate(database, [...MIGRATIONS, 'CREATE TABLE half (id); SELECT nonsense();'])).toThrow()
  expect(schemaVersion(database)).toBe(before)
  expect(database.query("SELECT * FROM sqlite_schema WHERE name = 'half'").all()).toEqual([])
  migrate(database, [...MIGRATIONS, 'CREATE TABLE whole (id)'])
  expect(schemaVersion(database)).toBe(before + 1)
  expect(() => migrate(database)).toThrow('newer')
})

test('a new first key seals; the old one still opens, and may be removed once no push names it', async () => {
  const path = join(opened.dataDir, 'instance.key')
  const old = await storePush(opened, { expireAfterViews: 1 })
  const before = readFileSync(path, 'utf8')
  await opened.store.close()
  const second = newKeyFile().replace(/^1 /m, '2 ')
  writeFileSync(path, `${second}${before}`)
  await reopen()
  expect(opened.store.keyring.sealing.number).toBe(2)
  expect(opened.store.keyring.keys).toHaveLength(2)
  await opened.store.close()
  writeFileSync(path, second)
  await expect(reopen()).rejects.toThrow(/Key 1 .*is missing/)
  writeFileSync(path, `${second}${before}`)
  await reopen()
  await opened.store.pushes.expirePush({ id: old.id, visit: VISIT })
  expect(await opened.store.expiry.purgeExpired({ of: 'anonymous', until: opened.clock.now() })).toBe(1)
  await opened.store.close()
  writeFileSync(path, second)
  await reopen()
})

test('a system clock that jumps back does not turn back the app’s clock; far back, the start is refused', async () => {
  opened.clock.advance(10 * DAY)
  await storePush(opened)
  opened.clock.set(START + 10 * DAY - MINUTE)
  expect(opened.store.now()).toBe(START + 10 * DAY)
  await opened.store.close()
  await reopen()
  expect(opened.store.now()).toBe(START + 10 * DAY)
  await opened.store.close()
  const early = createTestClock(START)
  await expect(reopen({ clock: early })).rejects.toThrow('--accept-clock')
  await reopen({ clock: early, acceptClock: true })
  expect(opened.store.now()).toBe(START)
})

test('the clock mark is written again if its batch was rolled back', async () => {
  const { store, clock, dataDir } = opened
  const push = await storePush(opened)
  for (let hours = 0; hours < 30; hours += 1) {
    clock.advance(60 * MINUTE)
    const refused = store.accounts.setDisabled({ id: 1, disabled: true, keepAdmin: true })
    const seen = store.pushes.refusePassphrase({ id: push.id, visit: VISIT, maxTries: 0 })
    await expect(refused).rejects.toThrow('the last administrator')
    await seen
  }
  const database = new Database(join(dataDir, 'oncebox.db'), { readonly: true })
  expect(database.query('SELECT clock_mark AS mark FROM instance').get()).toEqual({ mark: clock.now() })
  database.close()
})

test('a doubt is logged once; its end is logged with whether the clock is right or behind', async () => {
  await opened.close()
  jest.useFakeTimers()
  const warned: string[] = []
  opened = await openTestStore({ onWarning: (warning) => warned.push(warning) })
  const { clock } = opened
  const lookAt = async (time: number) => {
    clock.set(time)
    opened.store.now()
    await pass(20_000)
    return warned.splice(0)
  }
  try {
    const ahead = [expect.stringContaining('If the clock is right, confirm it')]
    expect(await lookAt(START + 400 * DAY)).toEqual(ahead)
    expect(await lookAt(START + 400 * DAY)).toEqual([])
    expect(await lookAt(START + MINUTE)).toEqual(['The clock of this machine is trusted again.'])
    expect(await lookAt(START + 400 * DAY)).toEqual(ahead)
    expect(await lookAt(START - 30 * DAY)).toEqual([expect.stringContaining('No push expires by time until')])
  } finally {
    await passUntil(opened.close())
    jest.useRealTimers()
  }
})

test('a dangling symlink is refused as such', async () => {
  const dataDir = join(opened.dataDir, 'files', 'link')
  symlinkSync(join(opened.dataDir, 'nowhere'), dataDir)
  await expect(openTestStore({ dataDir })).rejects.toThrow(
    `Cannot use ${dataDir}: a file is in its place, or`,
  )
})

test.skipIf(process.platform !== 'linux')(
  'the message for a full disk names the file that found no room, and the remedy',
  async () => {
    const dataDir = join(opened.dataDir, 'files', 'new')
    mkdirSync(dataDir, { mode: 0o700 })
    symlinkSync('/dev/full', dataFolder(dataDir).holder)
    await expect(openTestStore({ dataDir })).rejects.toThrow(
      'serve.holder: its disk has no room ("df -h"), or no inodes',
    )
  },
)

test('a locked folder is refused, naming the holder', async () => {
  await expect(lockFolder(dataFolder(opened.dataDir), { patience: 200 })).rejects.toThrow(
    `process ${process.pid}`,
  )
})

test('a start waits for a command that has the folder open, and a stopped server leaves no note', async () => {
  const folder = dataFolder(opened.dataDir)
  await opened.store.close()
  expect(existsSync(folder.holder)).toBe(false)
  const waits: string[] = []
  const locking = besideServer(folder, (isServed) => {
    expect(isServed).toBe(false)
    return lockFolder(folder, { onWarning: (warning) => waits.push(warning) })
  })
  const lock = await locking
  await (await openFolderDatabase(opened)).close()
  lock.release()
  expect(existsSync(folder.holder)).toBe(false)
})

test('account commands refuse a damaged database as a server does', async () => {
  const opened = await openTestStore()
  const { dataDir } = opened
  // Let the last page of the file hold rows, and not the schema.
  for (let n = 0; n < 200; n += 1) await storePush(opened)
  await opened.store.close()
  const path = join(dataDir, 'oncebox.db')
  truncateSync(path, statSync(path).size - 1)
  await expect(openFolderDatabase({ dataDir })).rejects.toThrow(`${path} is damaged`)
  rmSync(dataDir, { recursive: true })
})

test('the WAL is empty ten seconds after something was destroyed', async () => {
  const { id } = await storePush(opened)
  jest.useFakeTimers()
  const expiring = opened.store.pushes.expirePush({ id, visit: VISIT })
  await pass(50)
  await expiring
  const log = join(opened.dataDir, 'oncebox.db-wal')
  expect(statSync(log).size).toBeGreaterThan(0)
  // The thread truncates it in real time.
  await pass(5_000)
  await awaitOthers(() => statSync(log).size === 0)
  expect(statSync(log).size).toBe(0)
  await passUntil(opened.close())
  jest.useRealTimers()
})
