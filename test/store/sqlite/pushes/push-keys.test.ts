// Where the wrapped keys are stored: in slots that are reused, and wiped in place.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
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

test('slots of expired pushes are reused, even after a restart', async () => {
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

test('every push finds its own key, whatever was added and removed', async () => {
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
