// An index that leads to another row: in a database that is too large to be checked at the start, nobody else would notice.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DAY } from '../../../../src/domain/time.ts'
import { alterDatabase } from '../../../support/damage.ts'
import { expireAllLapsed, openTestStore, storePush, type TestStore, VISIT } from '../../../support/store.ts'

let opened: TestStore
let told: string[]

beforeEach(async () => {
  opened = await openTestStore()
})
afterEach(() => opened.close())

/** Once the server has ended, alters one byte of the entry that is written so: the one at `index`. */
async function alterIndex(entry: number[], { index, to }: { index: number; to: number }): Promise<void> {
  const { dataDir, clock } = opened
  await opened.store.close()
  alterDatabase(dataDir, 'CREATE TABLE filler AS SELECT zeroblob(70000000) AS bytes')
  const path = join(dataDir, 'oncebox.db')
  const database = new Database(path)
  database.run('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
  const file = readFileSync(path)
  const at = file.indexOf(Buffer.from(entry))
  expect(at).toBeGreaterThan(0)
  expect(file.indexOf(Buffer.from(entry), at + 1)).toBe(-1)
  file[at + index] = to
  writeFileSync(path, file)
  told = []
  opened = await openTestStore({ dataDir, clock, onError: (cause) => told.push(String(cause)) })
}

// An entry is a record of SQLite: how long its header is, the type of each value, the values. The last is the row's id.

test('by links', async () => {
  const all = [await storePush(opened), await storePush(opened), await storePush(opened)]
  const second = all[1]?.lookup ?? new Uint8Array()
  const entry = [3, 44, 1, ...second, 2]
  await alterIndex(entry, { index: entry.length - 1, to: 3 })
  await expect(opened.store.pushes.findPush(second)).rejects.toThrow('push 3 is not as it was written')
  expect((await opened.store.pushes.findPush(all[2]?.lookup ?? second))?.id).toBe(3)
})

test('by owners', async () => {
  for (const email of ['ann@example.org', 'bob@example.org', 'eve@example.org'])
    await opened.store.accounts.addAccount({ email, passwordHash: 'x', isAdmin: false })
  for (const ownerId of [null, 2, 2, 3]) {
    const { id } = await storePush(opened, { ownerId })
    alterDatabase(opened.dataDir, `INSERT INTO push_labels (push_id, url_token) VALUES (${id}, x'01')`)
  }
  // The last of Bob's becomes Eve's.
  await alterIndex([5, 1, 8, 1, 1, 2, 3, 3], { index: 5, to: 3 })
  const list = async (ownerId: number) => {
    const page = await opened.store.lists.listPushes({ ownerId, expired: false, pageNumber: 1 })
    return { pushes: page.pushes.map(({ push }) => push.id), damaged: page.damaged }
  }
  expect(await list(3)).toEqual({ pushes: [4], damaged: 1 })
  expect(await list(2)).toEqual({ pushes: [2], damaged: 0 })
  expect(told.join()).toContain('the index of owners is not as it was written')
})

test('by times', async () => {
  await storePush(opened)
  const { expiresAt } = await storePush(opened)
  const long = await storePush(opened, { expiresAt: opened.clock.now() + 300 * DAY })
  const time = Buffer.alloc(6)
  time.writeUIntBE(expiresAt, 0, 6)
  await alterIndex([3, 5, 1, ...time, 2], { index: 9, to: 3 })
  opened.clock.advance(2 * DAY)
  expect(await expireAllLapsed(opened)).toBe(1)
  expect((await opened.store.pushes.findPush(long.lookup))?.expiredOn).toBeNull()
  expect(told.join()).toContain('push 3 is not as it was written')
})

test.each<[string, { ownerId: number | null; ends: number }]>([
  ['of another owner', { ownerId: 1, ends: 1 }],
  ['that is live', { ownerId: null, ends: 0 }],
  ['that expired later', { ownerId: null, ends: 2 }],
])('by times of expiry: a push %s is not purged', async (_, { ownerId, ends }) => {
  const email = 'ann@example.org'
  await opened.store.accounts.addAccount({ email, passwordHash: 'x', isAdmin: false })
  await storePush(opened)
  const { id } = await storePush(opened)
  const wrong = await storePush(opened, { ownerId })
  await opened.store.pushes.expirePush({ id, visit: VISIT })
  const until = opened.clock.now()
  const time = Buffer.alloc(6)
  time.writeUIntBE(until, 0, 6)
  opened.clock.advance(ends === 2 ? 1 : 0)
  if (ends > 0) await opened.store.pushes.expirePush({ id: wrong.id, visit: VISIT })
  await alterIndex([3, 5, 1, ...time, id], { index: 9, to: wrong.id })
  expect(await opened.store.expiry.purgeExpired({ of: 'anonymous', until })).toBe(0)
  expect(await opened.store.pushes.findPush(wrong.lookup)).toMatchObject({ id: wrong.id })
  expect(told.join()).toContain(`push ${wrong.id}`)
})
