// A damaged row may name the key of another push: that push keeps it, and a key that nobody else names goes.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { alterDatabase } from '../../../support/damage.ts'
import { openTestStore, storePush, VISIT } from '../../../support/store.ts'
import { waitUntil } from '../../../support/waiting.ts'

test.each([1, 2_100])('among %p other pushes', async (others) => {
  const opened = await openTestStore()
  const { store, dataDir } = opened
  const slotsOf = () => {
    const database = new Database(join(dataDir, 'oncebox.db'), { readonly: true })
    const rows = database
      .query<{ slot: number; isWiped: number }, []>(
        'SELECT slot, wrapped_key = zeroblob(62) AS isWiped FROM push_keys ORDER BY slot',
      )
      .all()
    database.close()
    return rows.filter(({ isWiped }) => isWiped === 1).map(({ slot }) => slot)
  }
  const [salted, misled, robbed] = await Promise.all([1, 2, 3].map(() => storePush(opened)))
  if (salted === undefined || misled === undefined || robbed === undefined) throw new Error('they are there')
  const rest = await Promise.all(Array.from({ length: others }, () => storePush(opened)))
  alterDatabase(dataDir, `UPDATE push_secrets SET salt = x'00' WHERE push_id = ${salted.id}`)
  alterDatabase(dataDir, `UPDATE push_secrets SET key_slot = 3 WHERE push_id = ${misled.id}`)
  await Promise.all([salted, misled].map(({ id }) => store.pushes.expirePush({ id, visit: VISIT })))
  await waitUntil(() => slotsOf().includes(1))
  await store.close()
  expect(slotsOf()).toEqual([1])
  const again = await openTestStore({ dataDir, clock: opened.clock })
  expect((await again.store.pushes.findSealedPush(robbed.lookup))?.sealed).not.toBeNull()
  expect(
    (await again.store.pushes.findSealedPush(rest.at(-1)?.lookup ?? robbed.lookup))?.sealed,
  ).not.toBeNull()
  await again.close()
})
