// Visits of every kind that race on two nodes with one database, even while the server ends their
// connections.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isDomainError } from '../../../src/domain/errors.ts'
import type { StoredPush } from '../../../src/store/pushes-contract.ts'
import { openPostgresNodes, type PostgresNodes } from '../../support/postgres-nodes.ts'
import { storePush, VISIT } from '../../support/store.ts'
import { usePostgres } from '../../support/use-postgres.ts'

const postgres = usePostgres()

const UNCHANGED = {
  ...{ expireAfterDays: null, duration: null, expiresAt: null },
}
const LABELS = { urlToken: Buffer.from('token'), name: null, note: null, request: null }
const ACTS = [
  'read',
  'look',
  'delete',
  'deleteAll',
  'guess',
  'guess',
  'unlock',
  'edit',
  'lapse',
  'purge',
] as const
type Act = (typeof ACTS)[number]

/** The rows of a push in the database, and whether they are consistent. */
type Facts = {
  id: number
  views: number
  most: number
  isEnded: boolean
  hasSecrets: boolean
  entries: number
  log: { previous: number | null; id: number; kind: string; at: number }[]
}

const FACTS = `
  SELECT id::float8 AS id, views, expire_after_views AS most, expired_on IS NOT NULL AS "isEnded", audit_entries AS entries,
    EXISTS (SELECT FROM push_secrets WHERE push_id = id) AS "hasSecrets",
    (SELECT json_agg(json_build_object('id', entry.id, 'previous', previous, 'kind', kind, 'at', at) ORDER BY entry.id)
      FROM audit_entries AS entry WHERE entry.push_id = pushes.id) AS log
  FROM pushes JOIN push_state ON push_state.push_id = id ORDER BY id`

postgres.describe('two nodes', () => {
  let opened: PostgresNodes
  let ownerId: number
  beforeEach(async () => {
    opened = await openPostgresNodes(postgres)
    const account = { email: 'ann@example.org', passwordHash: 'x', isAdmin: false }
    ownerId = (await opened.nodes[0].accounts.addAccount(account)).id
  })
  afterEach(() => opened.close())

  const nodeOf = (n: number) => opened.nodes[n % 2] ?? opened.nodes[0]
  const make = (n: number, changes: Parameters<typeof storePush>[1] = {}) =>
    storePush({ store: nodeOf(n), clock: opened.clock }, changes, { labels: LABELS })

  /** Resolves to whether a payload was handed out. */
  async function read(n: number, { lookup }: StoredPush): Promise<boolean> {
    const claim = { lookup, visit: VISIT, lookBy: null, open: () => 'payload' }
    const claimed = await nodeOf(n).pushes.claimPlain(claim)
    return claimed?.outcome === 'view' && claimed.content === 'payload'
  }

  async function act(n: number, what: Act, push: StoredPush): Promise<boolean> {
    const { pushes, expiry } = nodeOf(n)
    const { id } = push
    if (what === 'read') return read(n, push)
    if (what === 'look')
      return (await pushes.claimView({ id, visit: VISIT, lookBy: null }))?.outcome === 'view'
    if (what === 'delete') await pushes.expirePush({ id, visit: VISIT })
    if (what === 'deleteAll') await pushes.expirePushes({ ids: [id], ownerId, visit: VISIT })
    if (what === 'guess') await pushes.refusePassphrase({ id, visit: VISIT, maxTries: 3 })
    if (what === 'unlock') await pushes.unlockPush({ id, visit: VISIT })
    if (what === 'edit') {
      const edit = { ...UNCHANGED, expireAfterViews: 2 }
      await pushes.editPush({ id, ownerId, visit: VISIT, edit, labels: {} })
    }
    if (what === 'lapse') await expiry.expireLapsed()
    if (what === 'purge') await expiry.purgeExpired({ of: 'owned', until: opened.clock.now() })
    return false
  }

  /**
   * Counts deadlocks. Closes the connections of the nodes first, because each reports its deadlocks with a
   * delay, or when it ends.
   */
  async function countDeadlocks(): Promise<number> {
    await Promise.all(opened.pools.map((pool) => pool.close()))
    const others =
      'SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()'
    while ((await opened.query(others)).length > 0) await Bun.sleep(20)
    const [row] = await opened.query<{ deadlocks: number }>(
      'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()',
    )
    return row?.deadlocks ?? 0
  }

  const readFacts = () => opened.query<Facts>(FACTS)

  /**
   * Checks that the log has one entry for each visit, linked without a gap, and that a push has secrets
   * exactly while it lives.
   */
  function expectConsistent({ views, most, isEnded, hasSecrets, entries, log }: Facts): void {
    expect(log).toHaveLength(entries)
    expect(log.map(({ previous }) => previous)).toEqual([null, ...log.slice(0, -1).map(({ id }) => id)])
    const times = log.filter(({ kind }) => !kind.startsWith('failed_')).map(({ at }) => at)
    expect(times).toEqual([...times].sort((one, other) => one - other))
    expect(log.filter(({ kind }) => kind === 'view')).toHaveLength(views)
    expect(views).toBeLessThanOrEqual(most)
    expect(hasSecrets).toBe(!isEnded)
    const end = log.findIndex(({ kind }) => kind === 'expire')
    const after = end === -1 ? [] : log.slice(end + 1)
    expect(after.every(({ kind }) => kind === 'failed_view')).toBe(true)
  }

  test('count each view and write each entry once, in any race', async () => {
    const race = fc.asyncProperty(
      fc.array(
        fc.record({
          what: fc.constantFrom(...ACTS),
          on: fc.nat(2),
          by: fc.nat(1),
        }),
        { minLength: 5, maxLength: 60 },
      ),
      async (acts) => {
        const pushes = [
          await make(0, { ownerId, expireAfterViews: 3 }),
          await make(1, { ownerId, expireAfterViews: 5, deletableByViewer: false }),
          await make(0, { ownerId, expireAfterViews: 9 }),
        ]
        const payloads = await Promise.all(
          acts.map(async ({ what, on, by }) => {
            const push = pushes[on] as StoredPush
            return (await act(by, what, push)) ? push.id : null
          }),
        )
        const facts = await readFacts()
        for (const one of facts) {
          expectConsistent(one)
          expect(payloads.filter((id) => id === one.id)).toHaveLength(one.views)
        }
        await opened.query('DELETE FROM pushes')
        await opened.query('DELETE FROM push_secrets')
      },
    )
    await fc.assert(race, { numRuns: 40, endOnFailure: true })
  }, 300_000)

  const shareOf = (n: number) => ({
    addresses: [Buffer.alloc(16, 1 + (n % 4)), Buffer.alloc(16, 1 + ((n + 1) % 4))] as [Buffer, Buffer],
    ...{ bytes: 1, limits: { pushes: 100_000, bytes: 0 } },
  })
  const keyOf = (n: number) => ({
    lookup: Buffer.alloc(32, n),
    lapsesAt: opened.clock.now() + 60_000,
    answer: Buffer.alloc(88, 3),
  })

  // There are few addresses and keys, so that many transactions need the same rows in another order.
  test('over addresses and idempotency keys never deadlock', async () => {
    const create = (n: number) =>
      storePush({ store: nodeOf(n), clock: opened.clock }, n % 5 === 0 ? { ownerId } : {}, {
        share: n % 5 === 0 ? null : shareOf(n),
        idempotency: n % 3 === 0 ? null : keyOf((n * 7) % 24),
      }).catch((cause) => {
        // Another create has used the key.
        if (!isDomainError(cause, 'conflict')) throw cause
        return null
      })
    let left: StoredPush[] = []
    for (let round = 0; round < 10; round += 1) {
      const some = await Promise.all([
        ...Array.from({ length: 40 }, (_, n) => create(round + n)),
        ...left.map(({ id }, n) => nodeOf(n).pushes.expirePush({ id, visit: VISIT })),
        ...opened.nodes.map(({ expiry }) => expiry.expireLapsed()),
        nodeOf(round).expiry.purgeExpired({ of: 'anonymous', until: opened.clock.now() }),
        nodeOf(round).idempotencyKeys.removeLapsed(),
      ])
      left = some.slice(0, 40).filter((one): one is StoredPush => one !== null && typeof one === 'object')
      // Some keys expire, while their pushes stay live.
      opened.clock.advance(25_000)
    }
    expect(await countDeadlocks()).toBe(0)
  }, 300_000)

  test('lose nothing acknowledged and hand out nothing twice while connections break', async () => {
    const end = () =>
      opened.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE pid <> pg_backend_pid() AND datname = current_database() AND usename = current_user AND random() < 0.5`)
    let tries = 0
    /** Transactions that failed in doubt may have happened. */
    let doubts = 0
    /**
     * Ends half of the connections after every tenth try. Counts tries, not time, so that a slow machine
     * makes progress too.
     */
    const retry = async <T>(work: () => Promise<T>): Promise<T> => {
      for (;;) {
        tries += 1
        if (tries % 10 === 0) await end()
        try {
          return await work()
        } catch (cause) {
          if (!isDomainError(cause, 'overloaded')) throw cause
          if (cause.details.isInDoubt) doubts += 1
        }
      }
    }
    const payloads = new Map<number, number>()
    const made: StoredPush[] = []
    for (let round = 0; round < 4; round += 1) {
      const some = await Promise.all(
        Array.from({ length: 20 }, (_, n) => retry(() => make(n, { expireAfterViews: n % 2 === 0 ? 1 : 5 }))),
      )
      made.push(...some)
      await Promise.all(
        Array.from({ length: 8 }, (_, n) =>
          some.map(async (push) => {
            if (await retry(() => read(n, push))) payloads.set(push.id, (payloads.get(push.id) ?? 0) + 1)
          }),
        ).flat(),
      )
    }
    const facts = new Map((await readFacts()).map((one) => [one.id, one]))
    for (const { id, expireAfterViews } of made) {
      const found = facts.get(id) as Facts
      expectConsistent(found)
      expect(found.views).toBe(expireAfterViews)
      expect(payloads.get(id) ?? 0).toBeWithin(expireAfterViews - doubts, expireAfterViews + 1)
    }
  }, 300_000)
})
