// Counts pushes in steps, with more pushes than a step holds, many of which end at the same moment.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { openTestStore, storePush } from '../../../support/store.ts'

const COPIES = 25_000

/** Copies the only push of the database, which is faster than creating each. */
function multiply(dataDir: string): void {
  const database = new Database(join(dataDir, 'oncebox.db'))
  const columns = database.query<{ name: string }, []>('PRAGMA table_info(pushes)').all()
  const names = columns.map(({ name }) => name).filter((name) => name !== 'id')
  const values = names.map((name) => (name === 'lookup' ? 'randomblob(16)' : name))
  database.run(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${COPIES})
     INSERT INTO pushes (${names.join()}) SELECT ${values.join()} FROM pushes, n`,
  )
  database.run('UPDATE pushes SET expires_at = expires_at + id WHERE id % 3 = 0')
  database.run('UPDATE pushes SET expired_on = 1 WHERE id % 10 = 0')
  database.close()
}

test('each push is counted once, and other requests run between the steps', async () => {
  const opened = await openTestStore({ onError: () => undefined })
  await storePush(opened)
  multiply(opened.dataDir)
  let [turns, isCounting] = [0, true]
  const others = async () => {
    for (; isCounting; turns += 1) await new Promise((resolve) => setImmediate(resolve))
  }
  const counting = opened.store.health.countPushes().finally(() => {
    isCounting = false
  })
  await Promise.all([counting, others()])
  const expired = Math.floor((COPIES + 1) / 10)
  expect(await counting).toEqual({ live: COPIES + 1 - expired, expired })
  expect(turns).toBeGreaterThanOrEqual(2)
  await opened.close()
})
