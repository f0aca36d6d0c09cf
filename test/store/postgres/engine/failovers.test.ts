// What crashes, restarts and failovers of the PostgreSQL server under the connections do.

import { expect, test } from 'bun:test'
import { inspectServer } from '../../../../src/store/postgres/engine/server-check.ts'
import { explainUnreachable } from '../../../../src/store/postgres/reaching/unreachable.ts'
import type { Cluster } from '../../../support/cluster.ts'
import { startStopwatch } from '../../../support/effort.ts'
import { startFaultProxy } from '../../../support/fault-proxy.ts'
import {
  addNote,
  addressOf,
  connectBy,
  countNotes,
  openDatabase,
  useCluster,
} from '../../../support/use-cluster.ts'
import { untilDone, waitUntil } from '../../../support/waiting.ts'

const { cluster, describe } = useCluster()

async function listNotes(on: Cluster): Promise<number[]> {
  return (await on.run<{ n: number }>('SELECT n FROM oncebox.notes')).map(({ n }) => n)
}

describe('a PostgreSQL server', () => {
  async function untilItWorks(work: () => Promise<unknown>): Promise<void> {
    while (
      !(await work().then(
        () => true,
        () => false,
      ))
    )
      await Bun.sleep(50)
  }

  test('that crashes again and again under load loses nothing acknowledged, and is used again at once', async () => {
    const database = openDatabase(cluster().address())
    let acknowledged = 0
    let refused = 0
    let isOver = false
    const writers = Array.from({ length: 16 }, async (_, writer) => {
      for (let n = 0; !isOver; n += 1) {
        await addNote(database, 1 + writer * 1_000_000 + n).then(
          () => {
            acknowledged += 1
          },
          (cause) => {
            expect(cause).toMatchObject({ code: 'overloaded' })
            refused += 1
          },
        )
      }
    })
    for (let crash = 0; crash < 3; crash += 1) {
      await Bun.sleep(300)
      await cluster().stop('immediate')
      await cluster().start()
      const before = acknowledged
      await waitUntil(() => acknowledged >= before + 16)
    }
    isOver = true
    await Promise.all(writers)
    // A refused one may have happened, when its outcome could not be known.
    const found = Number(await countNotes(cluster()))
    expect(found).toBeGreaterThanOrEqual(acknowledged)
    expect(found).toBeLessThanOrEqual(acknowledged + refused)
    await database.close()
  }, 300_000)

  test('that ends every connection is used on', async () => {
    const database = openDatabase(cluster().address())
    const before = Number(await countNotes(cluster()))
    // So long that a busy machine is no reason to give up.
    const notes = Array.from({ length: 200 }, (_, n) => untilDone(() => addNote(database, -1 - n, 60_000)))
    const end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'oncebox'"
    for (let round = 0; round < 5; round += 1) await cluster().run(end)
    await Promise.all(notes)
    expect(await countNotes(cluster())).toBe(before + 200)
    await database.close()
  }, 300_000)

  test('and its standby: what waits for the standby is not acknowledged, a failover is followed, and the old server is refused', async () => {
    const standby = await cluster().addStandby()
    const proxy = await startFaultProxy(cluster().port)
    try {
      const { problems } = await inspectServer(connectBy(standby.address()))
      expect(problems).toEqual([expect.stringContaining('The server is a standby')])

      const told: unknown[] = []
      const database = openDatabase(cluster().address(proxy.port), told)
      await addNote(database, -1001)
      const hosts = `127.0.0.1:1,127.0.0.1:${cluster().port},127.0.0.1:${standby.port}`
      const toldOfSeveral: unknown[] = []
      const warnings: string[] = []
      const several = openDatabase(
        `${cluster()
          .address()
          .replace(/127[^/]*/, hosts)}&target_session_attrs=read-write`,
        toldOfSeveral,
        warnings,
      )
      await addNote(several, -3001)
      await standby.stop('fast')
      const stop = startStopwatch()
      await expect(addNote(database, -1002, 2000)).rejects.toMatchObject({ code: 'overloaded' })
      expect(stop()).toBeLessThan(10_000)
      const many = Array.from({ length: 60 }, (_, n) =>
        addNote(database, -2000 - n, 4000).catch(() => undefined),
      )
      await Promise.all(many)
      await expect(addNote(database, -1003, 3000)).rejects.toMatchObject({ code: 'overloaded' })
      const isRefused = () =>
        String(told.at(-1)).includes('wait for a synchronous standby that does not answer')
      for (let n = -4000; !isRefused(); n -= 1) await addNote(database, n, 2000).catch(() => undefined)
      const [row] = await cluster().run<{ connections: number }>(
        "SELECT count(*)::int AS connections FROM pg_stat_activity WHERE usename = 'oncebox'",
      )
      expect(row?.connections).toBeLessThan(50)
      await standby.start()
      await untilItWorks(() => addNote(database, -1004))

      await standby.promote()
      // The old server goes on, and takes what waits for the standby in vain.
      await untilItWorks(() => addNote(several, -3002))
      expect(await standby.run('SELECT FROM oncebox.notes WHERE n = -3002')).toHaveLength(1)
      await waitUntil(() => several.followFailover().then(() => warnings.length > 0))
      await several.followFailover()
      expect(warnings).toEqual([
        `127.0.0.1:${cluster().port} was left behind by a failover to 127.0.0.1:${standby.port}, and still takes writes: stop it, and ` +
          'make it a standby.',
      ])
      proxy.lead(standby.port)
      await untilDone(() => addNote(database, -1006, 60_000))
      const [kept, left] = [await listNotes(standby), await listNotes(cluster())]
      expect(left.filter((n) => !kept.includes(n))).toEqual([])
      // The one before may also have been tried on the old server.
      expect(kept.filter((n) => !left.includes(n) && n !== -3002)).toEqual([-1006])
      told.length = 0
      proxy.lead(cluster().port)
      await waitUntil(async () => {
        await expect(addNote(database, -1005, 1000)).rejects.toMatchObject({ code: 'overloaded' })
        return told.length > 0
      })
      expect(String(told.at(-1))).toContain('left behind by a failover')
      await database.close()

      toldOfSeveral.length = 0
      await standby.stop('immediate')
      await waitUntil(async () => {
        await expect(addNote(several, -3003, 1000)).rejects.toMatchObject({ code: 'overloaded' })
        return toldOfSeveral.length > 0
      })
      const { error } = explainUnreachable(addressOf(cluster().address()), toldOfSeveral.at(-1)) ?? {}
      expect(error?.message).toContain('left behind by a failover')
      expect(error?.message).toContain('127.0.0.1:1: nothing answers there')
      await standby.start()
      await untilItWorks(() => addNote(several, -3004))
      expect(await standby.run('SELECT FROM oncebox.notes WHERE n = -3004')).toHaveLength(1)
      await several.close()
    } finally {
      await proxy.close()
      await standby.remove()
    }
  }, 300_000)
})
