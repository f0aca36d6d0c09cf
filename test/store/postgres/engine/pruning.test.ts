// Rows of operations, by which lost answers are settled, go away when nobody asks for them any more.

import { expect, test } from 'bun:test'
import { HOUR, MINUTE } from '../../../../src/domain/time.ts'
import { createDatabase } from '../../../../src/store/postgres/engine/database.ts'
import { createPruning } from '../../../../src/store/postgres/engine/pruning.ts'
import { usePostgres } from '../../../support/use-postgres.ts'

const postgres = usePostgres()

postgres.describe('operations', () => {
  async function open() {
    const { connect } = await postgres.newDatabase()
    const database = createDatabase({ connect })
    const count = async () => {
      const [row] = await database.read(({ query }) =>
        query<{ rows: number }>('SELECT count(*)::int AS rows FROM operations'),
      )
      return row?.rows
    }
    const write = () => database.transact(({ query }) => query('SELECT 1'))
    return { database, count, write }
  }

  test('are removed an hour after they were written, in steps, and not earlier', async () => {
    const { database, count, write } = await open()
    let elapsed = 0
    const prune = createPruning({ database, elapsed: () => elapsed })
    await database.transact(({ query }) =>
      query(
        `INSERT INTO operations (id) SELECT decode(md5(n::text), 'hex') FROM generate_series(1, 12000) n`,
      ),
    )
    expect(await prune()).toBe(0)
    elapsed = 30 * MINUTE
    await write()
    expect(await prune()).toBe(0)
    elapsed = HOUR
    expect(await prune()).toBe(12_001)
    // What the removal itself wrote, and the write in between.
    const left = await count()
    elapsed = HOUR + 30 * MINUTE
    expect(await prune()).toBe(1)
    expect(await count()).toBe(Number(left))
    await database.close()
  }, 300_000)

  test('of transactions that are under way stay, however long those take', async () => {
    const { database, count } = await open()
    let elapsed = 0
    const prune = createPruning({ database, elapsed: () => elapsed })
    await database.transact(async ({ query }) => {
      await query('SELECT pg_current_xact_id()')
      await prune()
      elapsed = 2 * HOUR
      expect(await prune()).toBe(0)
    })
    // That of the removal stays as well.
    expect(await count()).toBe(2)
    await database.close()
  })

  test('of several nodes are removed by all of them at once', async () => {
    const { database, count } = await open()
    let elapsed = 0
    const prunes = [1, 2, 3].map(() => createPruning({ database, elapsed: () => elapsed }))
    await database.transact(({ query }) =>
      query(`INSERT INTO operations (id) SELECT decode(md5(n::text), 'hex') FROM generate_series(1, 9000) n`),
    )
    await Promise.all(prunes.map((prune) => prune()))
    elapsed = HOUR
    const removed = await Promise.all(prunes.map((prune) => prune()))
    expect(removed.reduce((sum, n) => sum + n)).toBe(9001)
    expect(await count()).toBeLessThan(10)
    await database.close()
  })
})
