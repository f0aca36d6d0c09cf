// A folder records where it was served. Tries every way of copying one, and everything that must not count as
// a copy.

import { Database } from 'bun:sqlite'
import { afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listenAtSteps } from '../../../src/store/durable-steps.ts'
import { openFolderDatabase } from '../../../src/store/opening/folder-database.ts'
import { buildChild } from '../../support/built-child.ts'
import { createTestClock } from '../../support/instance.ts'
import { needs } from '../../support/needs.ts'
import { openTestStore, storePush, view } from '../../support/store.ts'

let program = ''
let room = ''
let data = ''

beforeAll(async () => {
  program = await buildChild('home-child.ts')
})
beforeEach(async () => {
  room = mkdtempSync(join(tmpdir(), 'oncebox-home-'))
  data = join(room, 'data')
  await serve()
})
afterEach(() => rmSync(room, { recursive: true, force: true }))

type Options = Parameters<typeof openTestStore>[0]

/** Starts and ends cleanly. Returns the warnings of the start. */
async function serve(options: Options = {}): Promise<string> {
  const warnings: string[] = []
  const { store } = await openTestStore({
    dataDir: data,
    onWarning: (said) => warnings.push(said),
    ...options,
  })
  await store.close()
  return warnings.join('\n')
}

const at = (name: string) => join(room, name)
const copy = (from: string, to: string) => cpSync(from, to, { recursive: true, preserveTimestamps: true })
/** Overwrites the existing files, so that they keep their inodes. */
function pourInto(from: string, to: string, names = readdirSync(from)): void {
  for (const name of names)
    if (statSync(join(from, name)).isFile()) writeFileSync(join(to, name), readFileSync(join(from, name)))
}

test('repeated starts at the same path are no move', async () => {
  for (let start = 0; start < 3; start += 1) expect(await serve()).toBe('')
  expect(readdirSync(data).filter((name) => name.includes('home'))).toEqual(['serve.home'])
  expect(statSync(join(data, 'serve.home')).mode & 0o777).toBe(0o600)
})

test('a copy at another path is refused, naming both paths and the remedy', async () => {
  copy(data, at('copy'))
  const refused = serve({ dataDir: at('copy') })
  await expect(refused).rejects.toThrow(`as ${data}; now it is ${at('copy')}`)
  for (const words of ['holds the keys', 'oncebox restore', '--accept-move', 'can then be opened here again'])
    await expect(serve({ dataDir: at('copy') })).rejects.toThrow(words)
  expect(await serve()).toBe('')
})

test('a copy of a running folder is refused, and its original starts again', async () => {
  const { store } = await openTestStore({ dataDir: data })
  copy(data, at('copy'))
  await expect(serve({ dataDir: at('copy') })).rejects.toThrow(`now it is ${at('copy')}`)
  await store.close()
  expect(await serve()).toBe('')
})

test('database and key alone, in a new folder of the same name, are refused', async () => {
  renameSync(data, at('old'))
  mkdirSync(data, { mode: 0o700 })
  pourInto(at('old'), data, ['oncebox.db', 'instance.key'])
  await expect(serve()).rejects.toThrow('one of them was put back or removed')
})

test('an older database in place of the current one is refused, with and without serve.home', async () => {
  copy(data, at('old'))
  await serve()
  pourInto(at('old'), data, ['oncebox.db'])
  await expect(serve()).rejects.toThrow('are from different times')
  rmSync(join(data, 'serve.home'))
  await expect(serve()).rejects.toThrow('are from different times')
})

test('a database that was copied while served, and restored after a clean end, is refused', async () => {
  const { store } = await openTestStore({ dataDir: data })
  copy(data, at('old'))
  await store.close()
  pourInto(at('old'), data, ['oncebox.db', 'oncebox.db-wal'])
  await expect(serve()).rejects.toThrow('are from different times')
})

test('a database without its mark is refused, as is a mark without its database', async () => {
  changeDatabase('DELETE FROM home')
  await expect(serve()).rejects.toThrow('are from different times')
  rmSync(join(data, 'oncebox.db'))
  await expect(serve()).rejects.toThrow('is missing, though this folder was in use')
})

/** Whether the file system of the temporary folder reports birth times. */
const HAS_BIRTHS = tellsBirths(mkdtempSync(join(tmpdir(), 'oncebox-births-')))

function tellsBirths(folder: string): boolean {
  const { birthtimeMs } = statSync(folder)
  rmSync(folder, { recursive: true })
  return birthtimeMs > 0
}

/** Replaces the original by a copy, as restore tools do. */
function putBack(from: string, to: string): void {
  rmSync(to, { recursive: true })
  copy(from, to)
}

test.skipIf(!HAS_BIRTHS)(
  'a whole folder that was restored at the same path is refused until --accept-move',
  async () => {
    copy(data, at('kept'))
    await serve()
    putBack(at('kept'), data)
    const refused = ['looks put back', 'is another file than the one that was served last', '--accept-move']
    for (const words of refused) await expect(serve()).rejects.toThrow(words)
    expect(await serve({ acceptMove: true })).toContain('can be opened here again')
    expect(await serve()).toBe('')
    putBack(at('kept'), data)
    await expect(serve()).rejects.toThrow('looks put back')
  },
)

test.skipIf(!HAS_BIRTHS)('a whole folder that was copied while served is refused as well', async () => {
  const { store } = await openTestStore({ dataDir: data })
  copy(data, at('kept'))
  await store.close()
  putBack(at('kept'), data)
  await expect(serve()).rejects.toThrow('looks put back')
})

test('a mark of a former version, without a birth time, is accepted once, and gets one', async () => {
  const path = join(data, 'serve.home')
  const noted = readFileSync(path, 'utf8')
  expect(noted.includes('\nborn ')).toBe(HAS_BIRTHS)
  writeFileSync(path, noted.replace(/^born .*\n/m, ''))
  copy(data, at('kept'))
  putBack(at('kept'), data)
  expect(await serve()).toBe('')
  expect(readFileSync(path, 'utf8').includes('\nborn ')).toBe(HAS_BIRTHS)
})

needs('strace').test(
  'without statx(2), which reports birth times, a folder can be started repeatedly',
  async () => {
    const quiet = ['strace', '-f', '-qq', '-o', '/dev/null']
    const without = ['-e', 'trace=statx', '-e', 'inject=statx:error=ENOSYS']
    for (let start = 0; start < 2; start += 1)
      expect(
        await Bun.spawn([...quiet, ...without, process.execPath, program, data, 'clean end']).exited,
      ).toBe(137)
    expect(readFileSync(join(data, 'serve.home'), 'utf8')).not.toContain('born')
    expect(await serve()).toBe('')
  },
)

test('the original that was moved aside and back is accepted', async () => {
  renameSync(data, at('aside'))
  renameSync(at('aside'), data)
  expect(await serve()).toBe('')
})

test('a renamed folder is refused until --accept-move', async () => {
  renameSync(data, at('new'))
  await expect(serve({ dataDir: at('new') })).rejects.toThrow(`as ${data}; now it is ${at('new')}`)
  expect(await serve({ dataDir: at('new'), acceptMove: true })).toContain('is served from here now')
  expect(await serve({ dataDir: at('new') })).toBe('')
})

test('--accept-move serves a copy from then on, and says what that means', async () => {
  copy(data, at('copy'))
  expect(await serve({ dataDir: at('copy'), acceptMove: true })).toContain('can be opened here again')
  expect(await serve({ dataDir: at('copy') })).toBe('')
  expect(await serve({ dataDir: at('copy'), acceptMove: true })).toContain('was not needed')
})

test('a refused copy is not changed: it is refused again', async () => {
  copy(data, at('copy'))
  const before = readFileSync(at('copy/oncebox.db'))
  for (const _ of [1, 2]) await expect(serve({ dataDir: at('copy') })).rejects.toThrow('looks like a copy')
  expect(readFileSync(at('copy/oncebox.db')).equals(before)).toBeTrue()
})

test('a symlink to the folder counts as the folder', async () => {
  symlinkSync(data, at('link'))
  expect(await serve({ dataDir: at('link') })).toBe('')
  expect(await serve()).toBe('')
})

/**
 * Starts in a separate process, which is killed at this step: one of changing the mark, or before or after
 * the start.
 */
async function killAt(step: string): Promise<void> {
  expect(await Bun.spawn([process.execPath, program, data, step]).exited).toBe(137)
}

const CHANGES = [
  'before the next mark is written',
  'before the mark changes',
  'before the last mark is forgotten',
]

test.each([...CHANGES, 'after the last mark was forgotten', 'after the start', 'clean end'])(
  'a folder is accepted after a kill, at its first start too: %s',
  async (step) => {
    await killAt(step)
    await killAt(step)
    expect(await serve()).toBe('')
    data = at('fresh')
    await killAt(step)
    expect(await serve()).toBe('')
  },
)

test.each(CHANGES)('a restored database is refused after a kill, too: %s', async (step) => {
  copy(data, at('old'))
  await serve()
  await killAt(step)
  pourInto(at('old'), data, ['oncebox.db'])
  rmSync(join(data, 'oncebox.db-wal'), { force: true })
  await expect(serve()).rejects.toThrow('looks like a copy')
})

test('a WAL that was removed after a kill is refused until --accept-move', async () => {
  await killAt('after the start')
  rmSync(join(data, 'oncebox.db-wal'))
  await expect(serve()).rejects.toThrow('was removed since')
  await (await openFolderDatabase({ dataDir: data })).close()
  await expect(serve()).rejects.toThrow('was removed since')
  expect(await serve({ acceptMove: true })).toContain('can be opened here again')
  expect(await serve()).toBe('')
})

test('a command or a refused start that checkpoints the WAL of a killed server is no loss', async () => {
  await killAt('after the start')
  await (await openFolderDatabase({ dataDir: data })).close()
  expect(existsSync(join(data, 'oncebox.db-wal'))).toBeFalse()
  expect(await serve()).toBe('')
  await killAt('after the start')
  await expect(serve({ clock: createTestClock(0) })).rejects.toThrow('--accept-clock')
  expect(existsSync(join(data, 'oncebox.db-wal'))).toBeFalse()
  expect(await serve()).toBe('')
})

test('a cursor from before a folder was put back skips no event once that is accepted', async () => {
  const labels = { urlToken: Buffer.alloc(30), name: null, note: null }
  const tellOne = async (options: Options, after: number) => {
    const opened = await openTestStore({ dataDir: data, onWarning: () => undefined, ...options })
    const account = { email: 'ann@example.org', passwordHash: 'x', isAdmin: true }
    const { id } =
      (await opened.store.accounts.findAccount(account.email)) ??
      (await opened.store.accounts.addAccount(account))
    await view(opened, await storePush(opened, { ownerId: id }, { labels }))
    const range = await opened.store.events.listEvents({ accountId: id, after })
    await opened.store.close()
    return range
  }
  await tellOne({}, 0)
  copy(data, at('copy'))
  await tellOne({}, 0)
  const { last: cursor } = await tellOne({}, 0)
  const { events } = await tellOne({ dataDir: at('copy'), acceptMove: true }, cursor)
  expect(events.map(({ type }) => type)).toEqual(['push.opened'])
  // The event numbers of a restore that was made while the clock was ahead.
  const ahead = 8_000_000_000_000_000
  changeDatabase(`UPDATE event_counts SET last = ${ahead}`)
  renameSync(data, at('moved'))
  expect((await tellOne({ dataDir: at('moved'), acceptMove: true }, cursor)).last).toBe(ahead + 1)
})

test('a command neither checks nor creates a mark', async () => {
  copy(data, at('copy'))
  const before = readFileSync(join(data, 'serve.home'))
  for (const dataDir of [data, at('copy')]) expect(await serve({ dataDir, isServer: false })).toBe('')
  expect(readFileSync(join(data, 'serve.home')).equals(before)).toBeTrue()
  await expect(serve({ dataDir: at('copy') })).rejects.toThrow('looks like a copy')
})

test('a folder that no server has served has no mark', async () => {
  await serve({ dataDir: at('imported'), isServer: false })
  renameSync(at('imported'), at('elsewhere'))
  expect(await serve({ dataDir: at('elsewhere') })).toBe('')
})

function changeDatabase(sql: string): void {
  const database = new Database(join(data, 'oncebox.db'))
  database.run(sql)
  database.close(true)
}

test('a write while the server stops is settled, and does not delay the stop', async () => {
  let late: Promise<unknown> = Promise.resolve()
  let isEnding = false
  listenAtSteps((step) => {
    if (isEnding && step === 'before the next mark is written') late = Promise.allSettled([storePush(opened)])
  })
  const opened = await openTestStore({ dataDir: data })
  isEnding = true
  await opened.store.close()
  listenAtSteps(null)
  await late
})
