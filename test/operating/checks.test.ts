// The list of checks: the words for each part and each of its states.

import { describe, expect, test } from 'bun:test'
import type { Doubt } from '../../src/domain/clock.ts'
import { DomainError } from '../../src/domain/errors.ts'
import { MINUTE } from '../../src/domain/time.ts'
import { createServerChecks, judgeBackup, judgeCertificate } from '../../src/operating/checks.ts'
import { judgeMail } from '../../src/operating/delivery-checks.ts'
import { createDatabaseGauges } from '../../src/operating/gauges.ts'
import { createLookAtHealth, fine, lookAtAll, wordOf } from '../../src/operating/health.ts'
import { createMetrics } from '../../src/operating/metrics.ts'
import type { DatabaseReport } from '../../src/store/database-contract.ts'
import type { BucketReport } from '../../src/store/files-contract.ts'
import { wordsOf } from '../../src/words/words.ts'

const NOON = Date.UTC(2026, 0, 1, 12)
const NAME = 'postgres://db.example:5432/boxes'
const NODE = {
  ...{ name: 'one', version: '3.0.0', startedAt: 0, seenAt: 0, isThis: true, isAlive: true },
}
const WELL: DatabaseReport = {
  look: async () => ({ roundTrip: 2 }),
  count: () => ({
    connections: { inUse: 1, idle: 2, most: 8, waiting: 3 },
    ...{ reads: 10, transactions: 20, failures: 1, retries: 4, seconds: 0.5 },
    unknownOutcomes: 6,
  }),
  sinceHeartbeat: () => 1_000,
  findRefusal: () => null,
  explainLoss: () => null,
  isFull: () => false,
  isOut: () => false,
  listNodes: async () => [NODE, { ...NODE, name: 'two', isAlive: false }],
}
const BUCKET: BucketReport = {
  name: 'boxes',
  findProblem: async () => null,
  isFull: () => false,
  countRequests: () => ({ ok: 0, retried: 0, missing: 0, failed: 0 }),
}

type State = {
  here?: number
  counts?: number
  doubt?: Doubt
  database?: DatabaseReport
  bucket?: BucketReport
  damaged?: number
  free?: number
  minFreeSpace?: number | null
  isFull?: boolean
  writeProblem?: string
}

const checksOf = (state: State) =>
  createServerChecks({
    store: {
      now: () => state.counts ?? NOON,
      isAlive: async () => true,
      findWriteProblem: async () => state.writeProblem ?? null,
      findKeyProblem: async () => null,
      freeSpace: {
        require: async () => undefined,
        hasRoom: () => true,
        isFull: () => state.isFull ?? false,
        measure: async () => ({ free: state.free ?? 1, total: 2 ** 30, inodes: null }),
      },
      bucket: state.bucket ?? null,
      damage: { report: () => undefined, count: () => state.damaged ?? 0 },
      clock: { doubt: () => state.doubt ?? null },
      database: state.database ?? null,
    },
    databaseName: NAME,
    dataDir: '/data',
    minFreeSpace: state.minFreeSpace ?? null,
    systemNow: () => state.here ?? NOON,
    certificate: null,
    readBackups: null,
    findLogProblem: null,
    findAuditProblem: null,
    mail: null,
    findMailShortage: async () => null,
    listFailingWebhooks: null,
  })

async function look(part: string, state: State): Promise<string> {
  const { isReady, findings } = await createLookAtHealth(checksOf(state))()
  const found = findings.find((finding) => finding.part === part)
  if (found === undefined) throw new Error(`no part ${part}`)
  if (found.state === 'ok') return 'ok'
  return `${isReady ? 'ready' : 'not ready'}: ${wordOf(found)}`
}

test('a failing check is reported as a problem, and the others continue', async () => {
  const found = await lookAtAll(
    {
      one: () => Promise.reject(new Error('no such thing')),
      two: () => {
        throw new DomainError('conflict', 'Refused in the words of a start.')
      },
      three: () => fine('It works.'),
      four: () => new Promise<never>(() => undefined),
      none: () => null,
    },
    50,
  )
  expect(found.map(({ part, state, said }) => `${part} ${state}: ${said}`)).toEqual([
    'one problem: This could not be checked: no such thing',
    'two problem: Refused in the words of a start.',
    'three ok: It works.',
    'four problem: It does not answer. Check its disk or network.',
  ])
})

describe('the clock', () => {
  test('that jumped back is reported: no push expires by time until it is corrected', async () => {
    expect(await look('clock', {})).toBe('ok')
    expect(await look('clock', { here: NOON - 2 * MINUTE })).toContain('No push expires by time')
  })

  test('of a node is compared with the database server’s, by which pushes expire', async () => {
    for (const here of [NOON - 2 * MINUTE, NOON + 2 * MINUTE]) {
      const told = await look('clock', { here, database: WELL })
      expect(told).toContain('the one of the database server 2026-01-01T12:00')
      expect(told).not.toContain('No push expires')
    }
    expect(await look('clock', { here: NOON - MINUTE / 2, database: WELL })).toBe('ok')
  })

  test('that is in doubt is reported with the name of its machine', async () => {
    const doubt = { said: NOON + 90 * 24 * 60 * MINUTE, expected: NOON }
    expect(await look('clock', { doubt })).toContain('The clock of this machine says')
    expect(await look('clock', { doubt, database: WELL })).toContain('The clock of the database server says')
  })
})

test('damage is reported with its place, without advice to restore, which would bring no push back', async () => {
  expect(await look('damage', { database: WELL, bucket: BUCKET })).toBe('ok')
  const end = 'damaged; the log names them, and docs/damage.md says what to do for each.'
  const told = [
    await look('damage', { damaged: 1 }),
    await look('damage', { damaged: 2, bucket: BUCKET }),
    await look('damage', { damaged: 2, database: WELL, bucket: BUCKET }),
  ]
  expect(told).toEqual(
    [
      `not ready: 1 place on the disk is ${end}`,
      `not ready: 2 places on the disk or in the bucket are ${end}`,
      `not ready: 2 places in PostgreSQL or in the bucket are ${end}`,
    ].map((line) => line.replace('not ready', 'ready')),
  )
})

describe('the disk', () => {
  const MIB = 1024 * 1024
  const disk = (free: number, minFreeSpace: number | null) => look('disk', { free: free * MIB, minFreeSpace })

  test('is ok above the floor; below it, the check says how much space new pushes need', async () => {
    const floor = 512 * MIB
    expect(await disk(851, floor)).toBe('ok')
    expect(await disk(511, floor)).toBe(
      'not ready: 511 MiB of 1024 MiB are free on the disk of /data, and new pushes need 512 MiB (--min-free-space): they are ' +
        'refused. Remove other files, or give it a larger disk.',
    )
    // Without a floor, and on a machine that stores no pushes.
    expect([await disk(3, 0), await disk(0, null)]).toEqual(['ok', 'ok'])
    expect(await disk(0, 0)).toStartWith('not ready: 0 MiB of 1024 MiB are free on the disk of /data')
  })

  test('that is full is reported once, although the database cannot be written either', async () => {
    const full = { isFull: true, writeProblem: 'database or disk is full', minFreeSpace: 0, free: 0 }
    expect(await look('disk', full)).toStartWith(
      'not ready: The disk of /data is full: new pushes are refused.',
    )
    expect(await look('database', full)).toBe('ok')
    expect(await look('database', { ...full, isFull: false })).toContain('Nothing can be written to /data')
  })
})

describe('a database server', () => {
  const database = (report: Partial<DatabaseReport>) => look('database', { database: { ...WELL, ...report } })

  test('that answers and commits is ok', async () => {
    expect(await database({})).toBe('ok')
  })

  test('that does not answer is named; one that refuses this node is reported with the reason', async () => {
    expect(await database({ look: async () => null })).toStartWith(`not ready: ${NAME} does not answer`)
    const explainLoss = () => `${NAME}: it refuses the user "oncebox" or the password.`
    expect(await database({ look: async () => null, explainLoss })).toBe(
      `not ready: ${explainLoss()} Requests that need it get 503 until then.`,
    )
    // A refused connection while others work.
    expect(await database({ explainLoss })).toBe('ok')
  })

  test('that was rolled back is reported as such', async () => {
    expect(await database({ findRefusal: () => 'The database was set back.' })).toBe(
      'not ready: The database was set back.',
    )
  })

  test('that answers but commits nothing is reported as such', async () => {
    expect(await database({ sinceHeartbeat: () => 60_000 })).toContain('has written nothing for 60 s')
  })

  test('with a full disk stays ready and gets a warning, so that reading still works', async () => {
    const told = await database({ isFull: () => true })
    expect(told).toStartWith(
      'ready: The disk of the database server is full, so new pushes are refused (507)',
    )
  })
})

const DAY = 24 * 60 * MINUTE

test.each([
  [{ leaf: 8, authority: null }, 'ok: The certificate is valid until 1970-01-09.'],
  [{ leaf: 6, authority: null }, 'warning: The certificate lapses on 1970-01-07.'],
  [{ leaf: -1, authority: null }, 'problem: The certificate lapsed on 1969-12-31.'],
  [{ leaf: 90, authority: 91 }, 'ok: The certificate is valid until 1970-04-01.'],
  [{ leaf: 80, authority: 80 }, 'warning: The authority ends on 1970-03-22.'],
])('of a certificate %j days before the ends it is said: %s', (ends, said) => {
  const authority = ends.authority === null ? null : { validUntil: ends.authority * DAY }
  const found = judgeCertificate({ facts: () => ({ validUntil: ends.leaf * DAY }), authority }, 0)
  expect(`${found.state}: ${found.said}`).toBe(said)
})

test('backup problems are reported and never make a server unready', () => {
  const told = (state: Partial<Parameters<typeof judgeBackup>[0]>) => {
    const judged = judgeBackup({
      ...{ folder: '/b', last: null, making: null, failure: null, isOverdue: false },
      ...state,
    })
    return `${judged.state}: ${wordOf(judged)}`
  }
  expect(told({ last: { at: NOON } })).toBe('ok: ok')
  expect(told({ last: { at: NOON }, isOverdue: true })).toBe(
    'warning: The backup in /b is overdue. The last good backup is of 2026-01-01T12:00:00.000Z. See the log.',
  )
  expect(told({ isOverdue: true, making: NOON })).toContain('is not done yet: check the disk')
  expect(told({ failure: { at: NOON, said: 'The disk is full.' }, isOverdue: true })).toBe(
    'warning: No backup was made in /b at 2026-01-01T12:00:00.000Z: The disk is full. It is tried again by itself. ' +
      'There is no backup yet.',
  )
})

test('the metrics show connections, transactions, unknown outcomes and nodes', async () => {
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
    'oncebox_database_unknown_outcomes_total 6',
    'oncebox_database_round_trip_seconds 0.002',
    'oncebox_database_heartbeat_age_seconds 1',
    'oncebox_database_full 0',
    'oncebox_nodes 1',
  ])
    expect(text).toContain(`\n${line}\n`)
})

test('a part that does not answer is left out of the metrics, and delays no other', async () => {
  const metrics = createMetrics()
  const listNodes = () => new Promise<never>(() => undefined)
  metrics.addGauges(createDatabaseGauges({ ...WELL, listNodes, look: async () => null }))
  const text = await metrics.read()
  expect(text).toContain('oncebox_database_reads_total 10')
  expect(text).not.toMatch(/^oncebox_(nodes|database_round_trip_seconds) /m)
})

test('a failing mail server is a warning, not a problem', () => {
  expect(judgeMail('mail.example:465', null)).toMatchObject({
    ...{ state: 'ok', said: 'Mail goes to mail.example:465.' },
  })
  expect(judgeMail('mail.example:465', { error: 'tls_failed' })).toMatchObject({
    state: 'warning',
    said: 'The mail server mail.example:465 has no TLS, or a certificate that does not verify: mail waits, for a day at most.',
  })
})

test('the administration page has a headline for every check', () => {
  const { knows } = wordsOf('en')
  expect(Object.keys(checksOf({})).filter((part) => !knows(`health_${part}`))).toEqual([])
})
