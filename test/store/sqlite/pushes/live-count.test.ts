// Counting live pushes in steps, among more than one step holds, many of which end at the same moment.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { createCountLive } from '../../../../src/operating/live-count.ts'
import { workedMs } from '../../../support/effort.ts'
import { openTestStore, storePush } from '../../../support/store.ts'

const COPIES = 25_000

/** Copies the only push of the database, which is faster than to make each. */
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

test('each live push is counted once, in steps that are short', async () => {
  const opened = await openTestStore({ onError: () => undefined })
  await storePush(opened)
  multiply(opened.dataDir)
  const expected = Math.ceil(((COPIES + 1) * 9) / 10)
  expect(await createCountLive(opened.store.lists)()).toBe(expected)
  const times: number[] = []
  for (let n = 0; n < 9; n += 1) {
    const before = workedMs()
    expect((await opened.store.lists.countSomeLive(null)).next).not.toBeNull()
    times.push(workedMs() - before)
  }
  // A busy machine slows most of the nine down, but hardly all.
  expect(Math.min(...times)).toBeLessThan(20)
  await opened.close()
})
