// What monitoring is told of a database server: when it is down, was set back, or cannot commit.

import { expect, test } from 'bun:test'
import { createDatabaseCheck } from '../../src/operating/database-checks.ts'
import { createDatabaseGauges } from '../../src/operating/database-gauges.ts'
import { createLookAtHealth } from '../../src/operating/health.ts'
import { createMetrics } from '../../src/operating/metrics.ts'
import type { DatabaseReport } from '../../src/store/database-face.ts'

const NAME = 'postgres://db.example:5432/boxes'
const NODE = {
  name: 'one',
  version: '3.0.0',
  startedAt: 0,
  seenAt: 0,
  isThis: true,
  isAlive: true,
  lacks: [],
  cannotOpenAll: false,
}

const WELL: DatabaseReport = {
  look: async () => ({ roundTrip: 2 }),
  count: () => ({
    connections: { inUse: 1, idle: 2, most: 8, waiting: 3 },
    ...{ reads: 10, transactions: 20, failures: 1, retries: 4, seconds: 0.5 },
    settled: { happened: 5, void: 6, unknown: 7 },
  }),
  sinceHeartbeat: () => 1_000,
  findRefusal: () => null,
  findKeyLack: () => null,
  explainLoss: () => null,
  isFull: () => false,
  isOut: () => false,
  listNodes: async () => [NODE, { ...NODE, name: 'two', isAlive: false }],
}

const look = (report: Partial<DatabaseReport>) =>
  createLookAtHealth([createDatabaseCheck({ ...WELL, ...report }, NAME)])()

test('a server that answers and takes changes is well', async () => {
  expect(await look({})).toEqual({ isReady: true, checks: { database: 'ok' } })
})

test('a server that does not answer is named', async () => {
  const { isReady, checks } = await look({ look: async () => null })
  expect([isReady, checks.database]).toEqual([false, expect.stringContaining(`${NAME} does not answer`)])
})

test('a server that refuses this node is told with its reason', async () => {
  const explainLoss = () => `${NAME}: it refuses the user "oncebox" or the password.`
  const { isReady, checks } = await look({ look: async () => null, explainLoss })
  expect(isReady).toBe(false)
  expect(checks.database).toBe(`${explainLoss()} Requests that need it get 503 until then.`)
  // A refused connection while others work.
  expect((await look({ explainLoss })).checks.database).toBe('ok')
})

test('a database that was set back is refused in its own words', async () => {
  const { isReady, checks } = await look({ findRefusal: () => 'The database was set back.' })
  expect([isReady, checks.database]).toEqual([false, 'The database was set back.'])
})

test('a server that answers but commits nothing is told apart', async () => {
  const { isReady, checks } = await look({ sinceHeartbeat: () => 60_000 })
  expect([isReady, checks.database]).toEqual([false, expect.stringContaining('has written nothing for 60 s')])
})

test('a server whose disk is full needs attention, and is not cut off from those who read', async () => {
  const { isReady, checks } = await look({ isFull: () => true })
  expect([isReady, checks.database]).toEqual([true, expect.stringContaining('new pushes are refused (507)')])
})

test('the metrics tell connections, work, settlements and nodes', async () => {
  const metrics = createMetrics()
  metrics.addGauges(createDatabaseGauges(WELL))
  const text = await metrics.read()
  for (const line of [
    'oncebox_database_connections{state="in_use"} 1',
    'oncebox_database_connections{state="most"} 8',
    'oncebox_database_waiting 3',
    'oncebox_database_reads_total 10',
    'oncebox_database_transactions_total 20',
    'oncebox_database_failures_total 1',
    'oncebox_database_retries_total 4',
    'oncebox_database_seconds_total 0.5',
    'oncebox_database_settlements_total{outcome="void"} 6',
    'oncebox_database_round_trip_seconds 0.002',
    'oncebox_database_heartbeat_age_seconds 1',
    'oncebox_database_full 0',
    'oncebox_nodes 1',
  ])
    expect(text).toContain(`\n${line}\n`)
})

test('what does not answer is left out of the metrics, and holds up nothing else', async () => {
  const metrics = createMetrics()
  const listNodes = () => new Promise<never>(() => undefined)
  metrics.addGauges(createDatabaseGauges({ ...WELL, listNodes, look: async () => null }))
  const text = await metrics.read()
  expect(text).toContain('oncebox_database_reads_total 10')
  expect(text).not.toMatch(/^oncebox_(nodes|database_round_trip_seconds) /m)
})
