// An address that names one server twice, by two ways to it: when one way fails, connections take the other, and nothing is lost or
// written twice.

import { expect, test } from 'bun:test'
import { createDatabase } from '../../../../src/store/postgres/engine/database.ts'
import { connectTo } from '../../../../src/store/postgres/reaching/address.ts'
import { startFaultProxy, type Way } from '../../../support/fault-proxy.ts'
import { connectTo as connectDirectly } from '../../../support/postgres.ts'
import { addressOf } from '../../../support/use-cluster.ts'
import { usePostgres } from '../../../support/use-postgres.ts'
import { untilDone, waitUntil } from '../../../support/waiting.ts'

const postgres = usePostgres()

postgres.describe('an address with two ways to one server', () => {
  async function open() {
    const { address, close } = await postgres.newDatabase()
    const { port } = postgres.server
    const [first, second] = [await startFaultProxy(port), await startFaultProxy(port)]
    const hosts = `@127.0.0.1:${first.port},127.0.0.1:${second.port}/`
    const used: number[] = []
    const connect = connectTo(addressOf(`${address.replace(/@127[^/]*\//, hosts)}?sslmode=disable`), (name) =>
      used.push(name === `127.0.0.1:${first.port}` ? 1 : 2),
    )
    const direct = connectDirectly(address)(1)
    await direct.unsafe('CREATE TABLE oncebox.notes (n int PRIMARY KEY)')
    const database = createDatabase({ connect })
    return {
      ...{ first, second, used, database },
      addNote: (n: number, within = 7_000) =>
        database.transact(({ query }) => query('INSERT INTO notes VALUES ($1)', [n]), { within }),
      listNotes: async () =>
        (await direct.unsafe('SELECT n FROM oncebox.notes ORDER BY n')).map(({ n }: { n: number }) => n),
      close: async () => {
        await database.close()
        await direct.close({ timeout: 0 })
        for (const proxy of [first, second]) await proxy.close()
        await close()
      },
    }
  }

  test.concurrent.each<Way>(['stall', 'swallow', 'reset'])(
    'takes the second from the start while the first is cut (%s)',
    async (way) => {
      const { first, used, addNote, listNotes, close } = await open()
      first.set(way)
      await untilDone(() => addNote(1))
      expect([used, await listNotes()]).toEqual([[2], [1]])
      await close()
    },
  )

  test.concurrent.each<Way>(['stall', 'swallow', 'reset'])(
    'takes the other one under load when one is cut (%s), and back again',
    async (way) => {
      const { first, second, used, addNote, listNotes, close } = await open()
      const acknowledged: number[] = []
      let isOver = false
      const writers = Array.from({ length: 8 }, async (_, writer) => {
        for (let n = writer; !isOver; n += 8)
          await addNote(n).then(
            () => acknowledged.push(n),
            (cause) => expect(cause).toMatchObject({ code: 'overloaded' }),
          )
      })
      const goesOn = async () => {
        const before = acknowledged.length
        await waitUntil(() => acknowledged.length > before + 20)
      }
      await goesOn()
      for (const [cut, whole] of [
        [first, second],
        [second, first],
      ] as const) {
        whole.set('pass')
        cut.set(way)
        await waitUntil(() => used.at(-1) === (cut === first ? 2 : 1))
        await goesOn()
      }
      isOver = true
      await Promise.all(writers)
      const found = new Set(await listNotes())
      expect(acknowledged.filter((n) => !found.has(n))).toEqual([])
      expect(new Set(acknowledged).size).toBe(acknowledged.length)
      await close()
    },
    300_000,
  )

  test.concurrent('learns on the second what became of a commit whose answer the first has swallowed', async () => {
    const { first, used, addNote, listNotes, close } = await open()
    await untilDone(() => addNote(1))
    const swallowed = first.swallowAfter('COMMIT')
    const adding = addNote(2, 60_000)
    await swallowed
    first.set('reset')
    // A second insert of the same number would fail.
    await adding
    expect([used, await listNotes()]).toEqual([
      [1, 2],
      [1, 2],
    ])
    await close()
  })
})
