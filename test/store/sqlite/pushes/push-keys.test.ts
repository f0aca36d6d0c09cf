// Where the wrapped keys lie: slots that are used again, and keys of an older database that move into them.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { MIGRATIONS, migrate } from '../../../../src/store/sqlite/engine/migrate.ts'
import { openTestStore, storePush, type TestStore, VISIT, view } from '../../../support/store.ts'

let opened: TestStore

beforeEach(async () => {
  opened = await openTestStore()
})

afterEach(() => opened.close().catch(() => undefined))

function countSlots(): number {
  const database = new Database(join(opened.dataDir, 'oncebox.db'), { readonly: true })
  const counted = database.query<{ slots: number }, []>('SELECT count(*) AS slots FROM push_keys').get()
  database.close()
  return counted?.slots ?? 0
}

async function pushAndExpire(times: number): Promise<void> {
  for (let n = 0; n < times; n += 1) {
    await view(opened, await storePush(opened, { expireAfterViews: 1 }))
  }
}

test('slots of expired pushes are used again, also after a restart', async () => {
  const kept = await Promise.all(Array.from({ length: 5 }, () => storePush(opened)))
  await pushAndExpire(20)
  expect(countSlots()).toBe(6)
  const { clock, dataDir } = opened
  await opened.store.close()
  opened = await openTestStore({ dataDir, clock })
  await pushAndExpire(20)
  expect(countSlots()).toBe(6)
  for (const { lookup } of kept) {
    expect((await opened.store.pushes.findSealedPush(lookup))?.sealed?.secrets.wrappedKey).toHaveLength(62)
  }
})

test('every push finds its own key, whatever came and went', async () => {
  const keys = new Map<number, { lookup: Uint8Array; key: string }>()
  const keyOf = async (lookup: Uint8Array) =>
    (await opened.store.pushes.findSealedPush(lookup))?.sealed?.secrets.wrappedKey.toHex() ?? 'none'
  for (let n = 0; n < 60; n += 1) {
    const { id, lookup } = await storePush(opened)
    keys.set(id, { lookup, key: await keyOf(lookup) })
    const doomed = [...keys.keys()][n % keys.size]!
    if (n % 3 === 0) {
      await opened.store.pushes.expirePush({ id: doomed, visit: VISIT })
      expect(await keyOf(keys.get(doomed)!.lookup)).toBe('none')
      keys.delete(doomed)
    }
  }
  expect(keys.size).toBe(40)
  for (const { lookup, key } of keys.values()) expect(await keyOf(lookup)).toBe(key)
})

test('the keys of an older database move into slots', () => {
  const database = new Database(':memory:')
  migrate(database, MIGRATIONS.slice(0, 1))
  for (const id of [3, 8, 9]) {
    database.run(
      `INSERT INTO pushes VALUES (?, ?, 1, 'text', NULL, 0, 0, 9, 1, 5, 0, 1, 0, 0, 0, 0, NULL, 0, 0, NULL, 0, 0)`,
      [id, Buffer.alloc(16, id)],
    )
    const secrets = [id, Buffer.alloc(16, id), Buffer.alloc(62, id), Buffer.from(`payload ${id}`)]
    database.run('INSERT INTO push_secrets VALUES (?, ?, ?, NULL, ?)', secrets)
  }
  migrate(database)
  const moved = database
    .query(
      'SELECT push_id, hex(wrapped_key) AS key, CAST(payload AS TEXT) AS payload FROM push_secrets JOIN push_keys ON slot = key_slot',
    )
    .all()
  expect(moved).toEqual(
    [3, 8, 9].map((id) => ({ push_id: id, key: `0${id}`.repeat(62), payload: `payload ${id}` })),
  )
})
