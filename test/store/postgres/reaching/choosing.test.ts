// Which server of an address with several is chosen at a start, and by commands beside the nodes: a primary whose commits wait in vain
// is none, and neither is one that a failover left behind.

import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPostgresAccounts } from '../../../../src/store/opening/postgres-accounts.ts'
import { connectTo } from '../../../../src/store/postgres/reaching/address.ts'
import { reachServer } from '../../../../src/store/postgres/reaching/reach.ts'
import { addressOf, connectBy, useCluster } from '../../../support/use-cluster.ts'
import { waitUntil } from '../../../support/waiting.ts'

const { cluster, describe } = useCluster()
const { cluster: stranger } = useCluster()
const account = { email: 'ann@example.org', passwordHash: 'x', isAdmin: true }

/** As a node that starts: where it arrives, and what its operator is told. */
async function reach(text: string, { patience = 0, onWait = (_: string): void => undefined } = {}) {
  const address = addressOf(text)
  const warnings: string[] = []
  const connect = connectTo(address)
  const onWarning = (warning: string) => warnings.push(warning)
  await reachServer({ address, connect, patience, onWait, onWarning })
  return { used: connect.serverName?.() ?? '', warnings }
}

const at = (port: number) => `127.0.0.1:${port}`

/** Commits that wait for a standby which never comes. `end` ends them. */
function keepWaiting(count: number): { end: () => Promise<void> } {
  const pools = Array.from({ length: count }, () => connectBy(cluster().address())(1))
  for (const [n, pool] of pools.entries())
    void pool.unsafe(`INSERT INTO oncebox.notes VALUES (${-n - 1})`).catch(() => undefined)
  return { end: async () => void (await Promise.all(pools.map((pool) => pool.close({ timeout: 0 })))) }
}

async function setStandbyNames(change: string): Promise<void> {
  await cluster().run(`ALTER SYSTEM ${change}`)
  await cluster().run('SELECT pg_reload_conf()')
}

describe('of several servers', () => {
  test('the one that takes writes is used, whatever its place, and one of another cluster is named', async () => {
    const standby = await cluster().addStandby({ isSynchronous: false })
    try {
      const [primary, other] = [cluster().port, stranger().port]
      expect(await reach(cluster().address(standby.port, primary))).toEqual({
        used: at(primary),
        warnings: [],
      })
      const { used, warnings } = await reach(cluster().address(primary, other))
      expect([used, warnings]).toEqual([
        at(primary),
        [expect.stringContaining(`${at(other)} is another PostgreSQL server than ${at(primary)}`)],
      ])
      await expect(reach(cluster().address(standby.port, 1))).rejects.toThrow(
        'it is a standby, which can only be read',
      )
    } finally {
      await standby.remove()
    }
  }, 300_000)

  test('a primary whose commits wait in vain is waited for, and its standby is used once that took over', async () => {
    const standby = await cluster().addStandby()
    const [both, alone] = [cluster().address(cluster().port, standby.port), cluster().address()]
    const room = mkdtempSync(join(tmpdir(), 'oncebox-choosing-'))
    await setStandbyNames("SET synchronous_standby_names = 'gone'")
    const waiting = keepWaiting(8)
    try {
      const refusalOf = () => reach(both).then(() => '', String)
      await waitUntil(async () => (await refusalOf()).includes('transactions wait for a synchronous standby'))
      expect(await refusalOf()).toContain('it is a standby, which can only be read')
      let waits = 0
      const onWait = () => {
        waits += 1
        void standby.promote()
      }
      const { used, warnings } = await reach(both, { patience: 240_000, onWait })
      expect([waits, used]).toEqual([1, at(standby.port)])
      expect(warnings.join()).toContain(
        `${at(cluster().port)} was left behind by a failover to ${at(standby.port)}`,
      )
      // Alone, it cannot be told from a primary that was never left behind.
      await setStandbyNames('RESET synchronous_standby_names')
      await waitUntil(() =>
        reach(alone).then(
          () => true,
          () => false,
        ),
      )
      const open = (address: string, dataDir: string) =>
        openPostgresAccounts({
          address: addressOf(address),
          remembering: { dataDir, bucket: null, keyFile: null },
          create: false,
          onWarning: () => undefined,
        })
      const { accounts, close } = await open(both, join(room, 'missing'))
      await accounts.addAccount(account)
      await close()
      expect(await standby.run('SELECT email FROM oncebox.accounts')).toHaveLength(1)
      expect(await cluster().run('SELECT email FROM oncebox.accounts')).toEqual([])
      // A node of this machine has served the one that took over.
      const [witness] =
        await standby.run<object>(`SELECT tag::text, beats::float8, restored_at::float8 AS "restoredAt",
        (SELECT system_identifier FROM pg_control_system()) || '/1/1/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) AS place
        FROM oncebox.instance`)
      const rest = { operations: [], isFinal: false, savedAt: 0, node: null }
      writeFileSync(join(room, 'serve.witness'), JSON.stringify({ ...witness, ...rest }))
      await expect(open(alone, room)).rejects.toThrow('a failover left this server behind')
      await (await open(both, room)).close()
    } finally {
      await setStandbyNames('RESET synchronous_standby_names')
      await waiting.end()
      await standby.remove()
      rmSync(room, { recursive: true })
    }
  }, 300_000)
})
