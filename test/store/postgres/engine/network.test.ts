// Connections to PostgreSQL over a network that drops answers, stalls and resets: every wait times out, and
// requests succeed again once the network works.

import { expect, test } from 'bun:test'
import { isDomainError } from '../../../../src/domain/errors.ts'
import { startStopwatch } from '../../../support/effort.ts'
import type { Way } from '../../../support/fault-proxy.ts'
import { openProxied, type ProxiedDatabase } from '../../../support/proxied-database.ts'
import { usePostgres } from '../../../support/use-postgres.ts'
import { waitUntil } from '../../../support/waiting.ts'

const FAILING: Way[] = ['stall', 'swallow', 'reset']

const postgres = usePostgres()

postgres.describe('a network', () => {
  async function open(): Promise<
    ProxiedDatabase & { told: unknown[]; addNote(n: number): Promise<unknown> }
  > {
    const told: unknown[] = []
    const onState = (cause: unknown) => {
      if (cause === null || told.at(-1) === undefined || told.at(-1) === null) told.push(cause)
    }
    const it = await openProxied(postgres, { onState })
    const addNote = (n: number) =>
      it.database.transact(({ query }) => query('INSERT INTO notes VALUES ($1)', [n]))
    return { ...it, told, addNote }
  }

  async function untilItWorks(work: () => Promise<unknown>): Promise<void> {
    while (
      !(await work().then(
        () => true,
        () => false,
      ))
    )
      await Bun.sleep(50)
  }

  /** Returns the failure. `expect(…).rejects` would block concurrent tests. */
  const failureOf = (work: Promise<unknown>) => work.catch((cause: unknown) => cause)

  test.concurrent.each(FAILING)(
    'that fails for a while (%s) loses nothing acknowledged and writes nothing twice',
    async (way) => {
      const { proxy, addNote, countNotes, close } = await open()
      let acknowledged = 0
      let refused = 0
      let slowest = 0
      let isOver = false
      const writers = Array.from({ length: 20 }, async (_, writer) => {
        for (let n = 0; !isOver; n += 1) {
          const stop = startStopwatch()
          await addNote(writer * 1_000_000 + n).then(
            () => {
              acknowledged += 1
            },
            (cause) => {
              // Any other error, such as a duplicate number, would mean that a row was written twice.
              if (!isDomainError(cause, 'overloaded')) throw cause
              refused += 1
            },
          )
          slowest = Math.max(slowest, stop())
        }
      })
      await Bun.sleep(200)
      proxy.set(way)
      await Bun.sleep(2500)
      proxy.set('pass')
      const before = acknowledged
      await waitUntil(() => acknowledged >= before + 40)
      isOver = true
      await Promise.all(writers)
      expect(slowest).toBeLessThan(10_000)
      const found = await countNotes()
      expect(found).toBeGreaterThanOrEqual(acknowledged)
      expect(found).toBeLessThanOrEqual(acknowledged + refused)
      await close()
    },
    300_000,
  )

  test.concurrent('that stays cut refuses every caller before its deadline, and the loss and the return are reported once each', async () => {
    const { proxy, addNote, told, close } = await open()
    await addNote(1)
    proxy.set('stall')
    const stop = startStopwatch()
    const notes = await Promise.allSettled(Array.from({ length: 50 }, (_, n) => addNote(2 + n)))
    expect(stop()).toBeLessThan(10_000)
    expect(new Set(notes.map(({ status }) => status))).toEqual(new Set(['rejected']))
    expect(told).toHaveLength(1)
    proxy.set('pass')
    await untilItWorks(() => addNote(101))
    expect(told).toEqual([expect.any(Error), null])
    await close()
  }, 300_000)

  test.concurrent('that stalls before the first connection times out too', async () => {
    const { proxy, database, addNote, countNotes, close } = await open()
    proxy.set('stall')
    const look = database.read(({ query }) => query('SELECT 1'))
    expect(await failureOf(look)).toMatchObject({ code: 'overloaded' })
    proxy.set('pass')
    await untilItWorks(() => addNote(1))
    expect(await countNotes()).toBe(1)
    await close()
  }, 300_000)

  test.concurrent('that stalls after a COMMIT leaves the transaction in doubt within its deadline', async () => {
    const { proxy, addNote, close } = await open()
    const stop = startStopwatch()
    const lost = proxy.swallowAfter('COMMIT').then(() => proxy.set('stall'))
    expect(await failureOf(addNote(2))).toMatchObject({ code: 'overloaded', details: { isInDoubt: true } })
    expect(stop()).toBeLessThan(10_000)
    await lost
    proxy.set('pass')
    await untilItWorks(() => addNote(3))
    await close()
  }, 300_000)

  test.concurrent('that holds back a COMMIT leaves the transaction in doubt within its deadline', async () => {
    const { proxy, addNote, close } = await open()
    void proxy.holdFrom('COMMIT')
    const stop = startStopwatch()
    expect(await failureOf(addNote(2))).toMatchObject({ code: 'overloaded', details: { isInDoubt: true } })
    expect(stop()).toBeLessThan(10_000)
    await untilItWorks(() => addNote(3))
    await close()
  }, 300_000)
})
