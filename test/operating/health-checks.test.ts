// What /readyz says of clocks (of the one that counts, and of the one of this machine), of damage and of the disk.

import { expect, test } from 'bun:test'
import type { Doubt } from '../../src/domain/clock.ts'
import { MINUTE } from '../../src/domain/time.ts'
import { createHealthChecks } from '../../src/operating/health-checks.ts'
import type { DatabaseReport } from '../../src/store/database-face.ts'
import type { BucketReport } from '../../src/store/files-face.ts'

const NOON = Date.UTC(2026, 0, 1, 12)
const elsewhere: DatabaseReport = {
  look: async () => null,
  count: () => {
    throw new Error('nobody asks for counts')
  },
  sinceHeartbeat: () => 0,
  listNodes: async () => [],
  findKeyLack: () => null,
  findRefusal: () => null,
  isOut: () => false,
  explainLoss: () => null,
  isFull: () => false,
}
const freeSpace = {
  require: async () => undefined,
  hasRoom: () => true,
  isFull: () => false,
}

const bucket: BucketReport = {
  name: 'boxes',
  findProblem: async () => null,
  isFull: () => false,
  countRequests: () => ({ ok: 0, retried: 0, missing: 0, failed: 0 }),
}

type Clocks = { here: number; counts: number; doubt?: Doubt; database?: DatabaseReport }

const explain = (clocks: Clocks) => explainPart('clock', clocks)

type State = Clocks & { bucket?: BucketReport; damaged?: number; free?: number; minFreeSpace?: number | null }

async function explainPart(part: string, state: State): Promise<string | null | undefined> {
  const { here, counts, doubt, database } = state
  const store = {
    now: () => counts,
    isAlive: async () => true,
    findWriteProblem: async () => null,
    findKeyProblem: async () => null,
    freeSpace: { ...freeSpace, measure: async () => ({ free: state.free ?? 1, total: 1, inodes: null }) },
    bucket: state.bucket ?? null,
    damage: { report: () => undefined, count: () => state.damaged ?? 0 },
    clock: { doubt: () => doubt ?? null },
    database: database ?? null,
  }
  const options = {
    store,
    databaseName: 'postgres://db',
    dataDir: '/data',
    minFreeSpace: state.minFreeSpace ?? null,
  }
  const checks = createHealthChecks({ ...options, systemNow: () => here })
  return (await checks.find(({ name }) => name === part)?.look())?.todo
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

test('damage is told with where it is, and no restore is advised, which brings no push back', async () => {
  const explainDamage = (state: Omit<State, 'here' | 'counts'>) =>
    explainPart('damage', { here: NOON, counts: NOON, ...state })
  expect(await explainDamage({ damaged: 0, database: elsewhere, bucket })).toBeNull()
  const ofFolder = await explainDamage({ damaged: 1 })
  expect(ofFolder).toBe(
    '1 place on the disk is damaged; the log names them, and docs/damage.md says what to do for each.',
  )
  const ofBucket = await explainDamage({ damaged: 2, bucket })
  expect(ofBucket).toStartWith(
    '2 places on the disk or in the bucket are damaged; the log names them, and docs/damage.md says what to do',
  )
  const ofNodes = await explainDamage({ damaged: 2, database: elsewhere, bucket })
  expect(ofNodes).toStartWith(
    '2 places in PostgreSQL or in the bucket are damaged; the log names them, and docs/damage.md says what to do',
  )
  expect([ofFolder, ofBucket, ofNodes].join()).not.toMatch(/--remove-damaged|[Rr]estore/)
})

test('a disk with more than the floor is well, and below it the part says what new pushes need', async () => {
  const MIB = 1024 * 1024
  const disk = (free: number, minFreeSpace: number | null) =>
    explainPart('disk', { here: 0, counts: 0, free: free * MIB, minFreeSpace })
  const floor = 512 * MIB
  expect(await disk(851, floor)).toBeNull()
  expect(await disk(511, floor)).toStartWith(
    '511 MiB are free on the disk of /data, and new pushes need 512 MiB',
  )
  // Without a floor, and on a machine that stores no pushes.
  expect([await disk(3, 0), await disk(0, null)]).toEqual([null, null])
  expect(await disk(0, 0)).toStartWith('0 MiB are free on the disk of /data. New pushes are refused')
})
