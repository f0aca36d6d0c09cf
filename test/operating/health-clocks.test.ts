// What /readyz says of clocks: of the one that counts, and of the one of this machine.

import { expect, test } from 'bun:test'
import type { Doubt } from '../../src/domain/clock.ts'
import { MINUTE } from '../../src/domain/time.ts'
import { createHealthChecks } from '../../src/operating/health-checks.ts'
import type { DatabaseReport } from '../../src/store/database-face.ts'

const NOON = Date.UTC(2026, 0, 1, 12)
const elsewhere: DatabaseReport = {
  look: async () => null,
  count: () => {
    throw new Error('nobody asks for counts')
  },
  sinceHeartbeat: () => 0,
  listNodes: async () => [],
  findRefusal: () => null,
  isOut: () => false,
  explainLoss: () => null,
  server: () => 'db:5432',
  tearsNoPages: false,
  isFull: () => false,
}
const freeSpace = {
  require: async () => undefined,
  isFull: () => false,
  measure: async () => ({ free: 1, total: 1, inodes: null }),
}

type Clocks = { here: number; counts: number; doubt?: Doubt; database?: DatabaseReport }

async function explain({ here, counts, doubt, database }: Clocks): Promise<string | null | undefined> {
  const store = {
    now: () => counts,
    isAlive: async () => true,
    findWriteProblem: async () => null,
    findKeyProblem: async () => null,
    freeSpace,
    bucket: null,
    damage: { report: () => undefined, count: () => 0 },
    clock: { doubt: () => doubt ?? null },
    database: database ?? null,
  }
  const options = { store, databaseName: 'postgres://db', dataDir: '/data', minFreeSpace: 0 }
  const checks = createHealthChecks({ ...options, systemNow: () => here })
  return (await checks.find(({ name }) => name === 'clock')?.look())?.todo
}

test('a machine whose clock went back is told that no push expires until it is right', async () => {
  expect(await explain({ here: NOON, counts: NOON })).toBeNull()
  expect(await explain({ here: NOON - 2 * MINUTE, counts: NOON })).toContain('No push expires by time')
})

test('a node is told that its clock differs from the one of the database server, by which pushes end', async () => {
  for (const here of [NOON - 2 * MINUTE, NOON + 2 * MINUTE]) {
    const told = await explain({ here, counts: NOON, database: elsewhere })
    expect(told).toContain('the one of the database server 2026-01-01T12:00')
    expect(told).not.toContain('No push expires')
  }
  expect(await explain({ here: NOON - MINUTE / 2, counts: NOON, database: elsewhere })).toBeNull()
})

test('a doubt names the machine whose clock it is about', async () => {
  const doubt = { said: NOON + 90 * 24 * 60 * MINUTE, expected: NOON }
  const told = { here: NOON, counts: NOON, doubt }
  expect(await explain(told)).toContain('The clock of this machine says')
  expect(await explain({ ...told, database: elsewhere })).toContain('The clock of the database server says')
})
