// Which standbys a user of the database sees: an ordinary one the names of those that are connected, one who may read all statistics
// whether they confirm changes.

import { expect, test } from 'bun:test'
import { judgeStandbys, type Standbys } from '../../../../src/domain/standbys.ts'
import { inspectServer } from '../../../../src/store/postgres/engine/server-check.ts'
import { connectBy, useCluster } from '../../../support/use-cluster.ts'
import { waitUntil } from '../../../support/waiting.ts'

const { cluster, describe } = useCluster()

describe('a PostgreSQL server with a standby', () => {
  async function look(): Promise<Standbys> {
    return (await inspectServer(connectBy(cluster().address()))).facts.standbys
  }

  async function setNames(names: string): Promise<Standbys> {
    await cluster().run(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`)
    await cluster().run('SELECT pg_reload_conf()')
    // New connections get it a moment later.
    await waitUntil(async () => (await look()).names === names)
    return look()
  }

  test('counts as protected only when somebody may see that', async () => {
    const standby = await cluster().addStandby({ isSynchronous: false })
    try {
      const alone = { names: '', following: ['standby'], named: [] }
      expect(await look()).toEqual({ ...alone, confirming: null })
      expect(judgeStandbys(await look())).toBe('asynchronous')
      // It follows, and no change waits for it.
      expect(judgeStandbys(await setNames('gone'))).toBe('missing')
      expect(judgeStandbys(await setNames('ANY 2 (standby, gone)'))).toBe('missing')
      const named = await setNames('ANY 1 (gone, "Standby")')
      expect(named).toMatchObject({ named: ['standby'], confirming: null })
      expect(judgeStandbys(named)).toBe('unseen')
      await cluster().run('GRANT pg_read_all_stats TO oncebox')
      await waitUntil(async () => judgeStandbys(await look()) === 'confirmed')
      expect((await look()).confirming).toEqual(['standby'])
      expect((await setNames('gone')).confirming).toEqual([])
    } finally {
      await setNames('')
      await standby.remove()
    }
    await waitUntil(async () => judgeStandbys(await look()) === 'none')
  }, 300_000)
})
