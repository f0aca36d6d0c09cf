// A log with more entries than one step may read or delete: other requests run between the steps.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { DAY } from '../../../../src/domain/time.ts'
import { openTestStore, storePush } from '../../../support/store.ts'

const ENTRIES = 12_345

/** Appends entries after the one of the creation, which is faster than so many views. */
function lengthen(dataDir: string, pushId: number): void {
  const database = new Database(join(dataDir, 'oncebox.db'))
  database.run(
    `WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ${ENTRIES})
     INSERT INTO audit_entries (id, push_id, previous, kind, at, ip, user_agent, referrer)
     SELECT 100 + i, ${pushId}, CASE i WHEN 2 THEN last_entry ELSE 99 + i END, 'view', i, '', '', ''
     FROM n JOIN push_state ON push_id = ${pushId}`,
  )
  database.run(
    `UPDATE push_state SET last_entry = 100 + ${ENTRIES}, audit_entries = ${ENTRIES} WHERE push_id = ${pushId}`,
  )
  database.close()
}

/** Returns how often other code could run before `work` was done. */
async function turnsBeside(work: Promise<unknown>): Promise<number> {
  let [turns, isWorking] = [0, true]
  void work.finally(() => (isWorking = false))
  for (; isWorking; turns += 1) await new Promise((resolve) => setImmediate(resolve))
  await work
  return turns
}

test('a long log is read from the nearer end, exported and removed in steps, and leaves nothing behind', async () => {
  const opened = await openTestStore()
  const { store, clock, dataDir } = opened
  await storePush(opened)
  const { id } = await storePush(opened)
  lengthen(dataDir, id)

  const at = async (page: number) => (await store.audit.listPage({ id }, page)).map((entry) => entry.at)
  const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n)
  expect(await at(247)).toEqual(range(12_301, ENTRIES))
  expect(await at(100)).toEqual(range(4_951, 5_000))
  expect((await at(1)).slice(1)).toEqual(range(2, 50))
  expect(await at(248)).toEqual([])
  expect(await turnsBeside(at(1))).toBeGreaterThan(10)

  const log = Array.fromAsync(store.audit.readAll({ id }))
  expect(await turnsBeside(log)).toBeGreaterThan(20)
  expect((await log).flat().map((entry) => entry.at)).toEqual([expect.any(Number), ...range(2, ENTRIES)])

  clock.advance(9 * DAY)
  while ((await store.expiry.expireLapsed()) > 0);
  const purge = () => store.expiry.purgeExpired({ of: 'anonymous', until: clock.now() })
  const purged: number[] = []
  const purging = (async () => {
    for (let n = await purge(); n > 0; n = await purge()) purged.push(n)
  })()
  expect(await turnsBeside(purging)).toBeGreaterThan(8)
  expect(purged.reduce((sum, n) => sum + n)).toBe(2)
  const database = new Database(join(dataDir, 'oncebox.db'))
  for (const table of ['audit_entries', 'push_state', 'pushes'])
    expect(database.query(`SELECT count(*) AS n FROM ${table}`).get()).toEqual({ n: 0 })
  database.close()
  await opened.close()
})
