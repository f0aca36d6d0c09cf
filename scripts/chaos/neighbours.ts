// Others who use the same PostgreSQL server get in the way: they end or cancel what nodes do, lock and rewrite the tables, or take all
// connections.

import { SQL } from 'bun'
import type { Cluster } from '../../test/support/cluster.ts'
import { breakAgainAndAgain } from './breakage.ts'
import { moment, type Scenario, type Trial } from './scenario.ts'

const OURS = "FROM pg_stat_activity WHERE usename = 'oncebox' ORDER BY random() LIMIT 4"
const TABLES = ['pushes', 'push_secrets', 'audit_entries', 'operations', 'instance', 'nodes']
/** Longer than nodes wait for a lock or for an answer. */
const LONG_MS = 6_000
/** More than the server has. */
const CROWD = 120

type Disturb = (trial: Trial) => Promise<void>

const DISTURBANCES: Record<string, Disturb> = {
  'connections ended': (trial) => again(trial, `SELECT pg_terminate_backend(pid) ${OURS}`),
  'statements cancelled': (trial) => again(trial, `SELECT pg_cancel_backend(pid) ${OURS}`),
  'a table locked': async ({ office, draw }) => {
    const table = `oncebox.${TABLES[draw(TABLES.length)]}`
    const seconds = moment(draw, LONG_MS / 2) / 1000
    await office.cluster.run(`BEGIN; LOCK TABLE ${table}; SELECT pg_sleep(${seconds}); ROLLBACK`)
  },
  'a column added behind a dump': async ({ office: { cluster }, draw }) => {
    const dump = cluster.run(
      `BEGIN; SELECT count(*) FROM oncebox.pushes; SELECT pg_sleep(${moment(draw, 1000) / 1000}); COMMIT`,
    )
    await Bun.sleep(200)
    await cluster.run('ALTER TABLE oncebox.pushes ADD COLUMN foreign_column integer')
    await dump
    await Bun.sleep(draw(500))
    await cluster.run('ALTER TABLE oncebox.pushes DROP COLUMN foreign_column')
  },
  'tables rewritten': async ({ office: { cluster } }) => {
    for (const table of TABLES) await cluster.run(`VACUUM FULL oncebox.${table}`)
    for (const table of TABLES) await cluster.run(`REINDEX TABLE oncebox.${table}`)
  },
  'no connection free': async ({ office: { cluster }, draw }) => {
    const crowd = await crowdInto(cluster)
    await Bun.sleep(moment(draw, 1500))
    await Promise.all(crowd.map((one) => one.close({ timeout: 0 })))
  },
}

export const neighbours: Scenario = {
  name: 'neighbours',
  what: 'other users of the database: they end, cancel, lock and rewrite what nodes use, and take all connections',
  rounds: 2 * Object.keys(DISTURBANCES).length,
  run: (trial) => {
    const all = Object.entries(DISTURBANCES)
    const breakOnce = async (round: number) => {
      const [name, disturb] = all[round % all.length] ?? []
      trial.onStep(`  ${name}`)
      await disturb?.(trial)
    }
    return breakAgainAndAgain(trial, { name: 'disturbances', after: 500, breakOnce })
  },
}

/** Often within two seconds. */
async function again({ office: { cluster } }: Trial, statement: string): Promise<void> {
  for (let n = 0; n < 40; n += 1) {
    await cluster.run(statement)
    await Bun.sleep(50)
  }
}

/** Takes every connection that the server has for ordinary users; those of the nodes are ended first. */
async function crowdInto(cluster: Cluster): Promise<SQL[]> {
  const crowd: SQL[] = []
  await cluster.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'oncebox'")
  while (crowd.length < CROWD) {
    const one = new SQL({ url: cluster.address(), max: 1, connectionTimeout: 5 })
    const isIn = await one`SELECT 1`.then(
      () => true,
      () => false,
    )
    if (!isIn) {
      await one.close({ timeout: 0 })
      return crowd
    }
    crowd.push(one)
  }
  return crowd
}
