// A start while the synchronous standby is missing, and so many commits wait for it that no further connection is used.

import { expect, test } from 'bun:test'
import { SQL } from 'bun'
import { connectTo } from '../../../../src/store/postgres/reaching/address.ts'
import { reachServer } from '../../../../src/store/postgres/reaching/reach.ts'
import { addressOf, useCluster } from '../../../support/use-cluster.ts'
import { waitUntil } from '../../../support/waiting.ts'

const PATIENCE_MS = 600_000

const STUCK = `SELECT count(*)::int AS stuck FROM pg_stat_activity
  WHERE wait_event = 'SyncRep' AND query_start < clock_timestamp() - interval '5 s'`

const { cluster, describe } = useCluster()

describe('a server whose commits wait for a standby', () => {
  test(
    'is waited for, and refused where nobody waits',
    async () => {
      const address = addressOf(cluster().address())
      const told: string[] = []
      const reach = (patience: number, onWait = () => undefined) =>
        reachServer({
          ...{ address, connect: connectTo(address), patience },
          onWait: (why) => {
            told.push(why)
            onWait()
          },
        })

      await setStandby("SET synchronous_standby_names = 'missing'")
      // An ordinary user sees what only its own connections wait for.
      const sql = new SQL({ url: cluster().address(), max: 8 })
      const hanging = Promise.all(
        Array.from({ length: 8 }, (_, n) => sql.unsafe('INSERT INTO oncebox.notes VALUES ($1)', [n])),
      )
      await waitUntil(async () => (await cluster().run<{ stuck: number }>(STUCK))[0]?.stuck === 8)
      await expect(reach(0)).rejects.toThrow('wait for a synchronous standby')
      expect(told).toEqual([])

      await reach(PATIENCE_MS, () => void setStandby('RESET synchronous_standby_names'))
      expect(told).toEqual([
        expect.stringMatching(/^Waiting up to 600 s for PostgreSQL. .*synchronous standby/),
      ])
      await hanging
      await sql.close()
    },
    PATIENCE_MS,
  )
})

async function setStandby(setting: string): Promise<void> {
  await cluster().run(`ALTER SYSTEM ${setting}`)
  await cluster().run('SELECT pg_reload_conf()')
}
