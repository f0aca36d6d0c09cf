// The index of links: every push is found by its link, whether that is filed, only in memory, or being filed.

import type { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../../../src/store/sqlite/database.ts'
import type { Transact } from '../../../../src/store/sqlite/group-commit.ts'
import { openLinks } from '../../../../src/store/sqlite/links.ts'
import { migrate } from '../../../../src/store/sqlite/migrate.ts'
import { openTestStore, storePush } from '../../../support/store.ts'

const MOST = 20
let folder: string
let database: Database

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'oncebox-links-'))
  open()
  migrate(database)
})

afterEach(() => {
  database.close(true)
  rmSync(folder, { recursive: true })
})

function open(): void {
  database = openDatabase(join(folder, 'oncebox.db'), { create: true, busyTimeout: 0 })
}

/** Reopens the links, as another process would after the end of this one. */
function reopen() {
  database.close(true)
  open()
  return openLinks(database, MOST)
}

/** Links that lie all over the index. */
const lookupOf = (n: number) => new Bun.CryptoHasher('sha256').update(`${n}`).digest().subarray(0, 16)

function addPushes(from: number, to: number): void {
  const add = database.prepare(
    `INSERT INTO pushes (lookup, key_number, kind, created_at, expires_at, expire_after_days, expire_after_views,
      retrieval_step, shows_sender, passphrase_required, deleted, lost, files)
      VALUES (?, 1, 'text', 1, 2, 1, 1, 0, 0, 0, 0, 0, 0)`,
  )
  database.transaction(() => {
    for (let n = from; n <= to; n += 1) add.run(lookupOf(n))
  })()
}

/** Returns the ids of the pushes that the links from `from` to `to` open. */
function idsOf(from: number, to: number): (number | undefined)[] {
  const find = database.prepare<{ id: number }, [Uint8Array]>(
    'SELECT push_id AS id FROM links WHERE lookup = ?',
  )
  return range(from, to).map((n) => {
    // An id appears twice if its link is filed while it is still in memory.
    const ids = new Set(find.all(lookupOf(n)).map(({ id }) => id))
    expect(ids.size).toBeLessThan(2)
    return [...ids][0]
  })
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n)
const count = (table: string) =>
  database.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n

/** Commits at once; `fails` names the steps that fail, by their number. */
function committing(fails: readonly number[] = []) {
  let steps = 0
  const transact: Transact = async (work) => {
    steps += 1
    if (fails.includes(steps)) throw new Error('no room on the disk')
    return work()
  }
  return transact
}

/** Waits until nothing is being filed any more. */
async function file(
  links: ReturnType<typeof openLinks>,
  steps: number,
  transact = committing(),
): Promise<void> {
  links.noteCommitted(steps, transact)
  for (let turn = 0; turn < 100; turn += 1) await Promise.resolve()
}

test('new links wait in memory until there are many, and are filed together', async () => {
  const links = openLinks(database, MOST)
  addPushes(1, MOST)
  await file(links, MOST)
  expect([count('push_links'), count('new_links')]).toEqual([0, MOST])
  expect(idsOf(1, MOST)).toEqual(range(1, MOST))
  addPushes(MOST + 1, 50)
  await file(links, 30)
  expect([count('push_links'), count('new_links')]).toEqual([50, 0])
  expect(idsOf(1, 50)).toEqual(range(1, 50))
  addPushes(51, 55)
  expect(idsOf(40, 56)).toEqual([...range(40, 55), undefined])
  reopen()
  expect([count('push_links'), count('new_links')]).toEqual([50, 5])
  expect(idsOf(1, 55)).toEqual(range(1, 55))
})

test('links that are added during a filing are found, and filed the next time', async () => {
  const links = openLinks(database, MOST)
  addPushes(1, 30)
  let steps = 0
  links.noteCommitted(30, async (work) => {
    steps += 1
    if (steps === 8) addPushes(31, 60)
    return work()
  })
  for (let turn = 0; turn < 100; turn += 1) await Promise.resolve()
  expect(idsOf(1, 60)).toEqual(range(1, 60))
  expect(count('new_links')).toBe(30)
  reopen()
  // There are so many that the start files them itself.
  expect([count('push_links'), count('new_links')]).toEqual([60, 0])
  expect(idsOf(1, 60)).toEqual(range(1, 60))
})

test('a full disk or a crash during a filing loses no link', async () => {
  const links = openLinks(database, MOST)
  addPushes(1, 30)
  await file(links, 30, committing([8]))
  expect(count('push_links')).toBeGreaterThan(0)
  expect(count('push_links')).toBeLessThan(30)
  expect(idsOf(1, 30)[0]).toBe(1)
  // The next try does not follow each commit, but comes after as many new links again.
  addPushes(31, 40)
  await file(links, 10)
  expect(count('push_links')).toBeLessThan(30)
  const again = reopen()
  expect(database.query('SELECT DISTINCT lookup, push_id FROM links').all()).toHaveLength(40)
  addPushes(41, 70)
  await file(again, 30)
  expect([count('push_links'), count('new_links')]).toEqual([70, 0])
  expect(idsOf(1, 70)).toEqual(range(1, 70))
})

test('a start on a full disk keeps in memory what it cannot file, until there is room', async () => {
  addPushes(1, 1_000)
  const pages = database.query<{ page_count: number }, []>('PRAGMA page_count').get()?.page_count
  database.run(`PRAGMA max_page_count = ${pages}`)
  const links = openLinks(database, MOST)
  expect([count('push_links'), count('new_links')]).toEqual([0, 1_000])
  expect(idsOf(1, 1_000)).toEqual(range(1, 1_000))
  // The first commit does not try again, because it needs the remaining room.
  await file(links, 1)
  expect(count('push_links')).toBe(0)
  database.run('PRAGMA max_page_count = 1000000')
  addPushes(1_001, 1_030)
  await file(links, 30)
  expect([count('push_links'), count('new_links')]).toEqual([1_030, 0])
  expect(idsOf(1, 1_030)).toEqual(range(1, 1_030))
})

test('new links are filed as before once all pushes are purged', async () => {
  const links = openLinks(database, MOST)
  addPushes(1, 200)
  await file(links, 200)
  database.run('DELETE FROM pushes')
  const again = reopen()
  addPushes(201, 230)
  await file(again, 30)
  expect([count('push_links'), count('new_links')]).toEqual([30, 0])
})

test('a second push with the same link is refused, whether the first is filed or in memory', async () => {
  const links = openLinks(database, MOST)
  addPushes(1, 30)
  await file(links, 30)
  addPushes(31, 32)
  expect([count('push_links'), count('new_links')]).toEqual([30, 2])
  expect(() => addPushes(7, 7)).toThrow('another push has this link')
  expect(() => addPushes(31, 31)).toThrow('UNIQUE')
  reopen()
  expect(() => addPushes(7, 7)).toThrow('another push has this link')
  expect(() => addPushes(31, 31)).toThrow('UNIQUE')
  expect(count('pushes')).toBe(32)
  // The link of a removed push may be used again.
  database.run('DELETE FROM pushes WHERE id IN (7, 31)')
  addPushes(7, 7)
  addPushes(31, 31)
  expect([...idsOf(7, 7), ...idsOf(31, 31)]).toEqual([33, 34])
})

test('a create with the link of another push is refused alone, and that push is not changed', async () => {
  const opened = await openTestStore()
  const { id, lookup } = await storePush(opened)
  const [second, other] = await Promise.allSettled([
    storePush(opened, {}, { lookup: Buffer.from(lookup) }),
    storePush(opened),
  ])
  expect([second.status, other.status]).toEqual(['rejected', 'fulfilled'])
  expect((await opened.store.pushes.findPush(lookup))?.id).toBe(id)
  await opened.close()
})

test('a create that is undone leaves no link', () => {
  openLinks(database, MOST)
  addPushes(1, 1)
  database.run('BEGIN')
  addPushes(2, 3)
  database.run('ROLLBACK')
  addPushes(4, 4)
  expect(idsOf(1, 4)).toEqual([1, undefined, undefined, 2])
})

test('a link is removed and changed with its push, filed or not', async () => {
  const links = openLinks(database, MOST)
  addPushes(1, 30)
  await file(links, 30)
  addPushes(31, 32)
  database.run('DELETE FROM pushes WHERE id IN (1, 31)')
  expect(idsOf(1, 32)).toEqual([undefined, ...range(2, 30), undefined, 32])
  // Does the same as `oncebox key rotate`, without a server.
  database.run('UPDATE pushes SET lookup = ? WHERE id = 2', [lookupOf(102)])
  database.run('UPDATE pushes SET lookup = ? WHERE id = 32', [lookupOf(132)])
  reopen()
  expect(idsOf(2, 2)).toEqual([undefined])
  expect(idsOf(32, 32)).toEqual([undefined])
  expect([...idsOf(102, 102), ...idsOf(132, 132)]).toEqual([2, 32])
})

test('a push that a command deletes beside the server leaves no link in the index', async () => {
  const links = openLinks(database, MOST)
  addPushes(1, 40)
  const command = openDatabase(join(folder, 'oncebox.db'), { create: false, busyTimeout: 0 })
  const remove = command.prepare('DELETE FROM pushes WHERE id = ?')
  remove.run(3)
  let steps = 0
  links.noteCommitted(40, async (work) => {
    steps += 1
    // At this point some of these links are filed already.
    if (steps === 8) for (const id of range(10, 20)) remove.run(id)
    return work()
  })
  for (let turn = 0; turn < 100; turn += 1) await Promise.resolve()
  remove.run(30)
  command.close(true)
  const left = [...range(1, 2), ...range(4, 9), ...range(21, 29), ...range(31, 40)]
  const filed = database.query<{ id: number }, []>('SELECT push_id AS id FROM push_links ORDER BY id').all()
  expect(filed.map(({ id }) => id)).toEqual(left)
  expect(count('new_links')).toBe(0)
})

test('no link is filed after the close', async () => {
  const links = openLinks(database, MOST)
  addPushes(1, 30)
  await links.close()
  await file(links, 30)
  expect(count('push_links')).toBe(0)
})

test('a server files the links of thousands of creates, and finds each of them', async () => {
  const opened = await openTestStore()
  const made: { id: number; lookup: Uint8Array }[] = []
  while (made.length < 10_000)
    made.push(...(await Promise.all(Array.from({ length: 1_000 }, () => storePush(opened)))))
  const path = join(opened.dataDir, 'oncebox.db')
  const filed = openDatabase(path, { create: false, busyTimeout: 0 })
  const upTo = () => filed.query<{ id: number }, []>('SELECT up_to AS id FROM links_filed').get()?.id
  while (upTo() === 0) await storePush(opened)
  filed.close(true)
  for (const { id, lookup } of made) expect((await opened.store.pushes.findPush(lookup))?.id).toBe(id)
  await opened.close()
})
