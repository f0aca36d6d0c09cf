// Creates and views that go to the database together: each has its own outcome.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { DamageError } from '../../../src/domain/errors.ts'
import { DAY } from '../../../src/domain/time.ts'
import { openPostgresNodes, type PostgresNodes } from '../../support/postgres-nodes.ts'
import { storePush, VISIT } from '../../support/store.ts'
import { usePostgres } from '../../support/use-postgres.ts'

const GROWN = 20_000

const postgres = usePostgres()

postgres.describe('a batch', () => {
  let opened: PostgresNodes
  beforeEach(async () => {
    opened = await openPostgresNodes(postgres)
  })
  afterEach(() => opened.close())

  const make = (...[changes, parts]: [Parameters<typeof storePush>[1]?, Parameters<typeof storePush>[2]?]) =>
    storePush({ store: opened.nodes[0], clock: opened.clock }, changes, parts)
  const addAccount = (name: string) =>
    opened.nodes[0].accounts.addAccount({
      email: `${name}@example.org`,
      passwordHash: 'x',
      isAdmin: name === 'admin',
    })
  const keyOf = (n: number) => ({
    lookup: Buffer.alloc(32, n),
    lapsesAt: opened.clock.now() + DAY,
    answer: Buffer.alloc(88, n),
  })
  const labels = { urlToken: Buffer.from('token'), name: Buffer.from('name'), note: null }

  test('of creates stores those that are allowed, with what belongs to each', async () => {
    const [ann, bob] = [await addAccount('ann'), await addAccount('bob')]
    await opened.nodes[1].accounts.setDisabled({ id: bob.id, disabled: true })
    const share = { addresses: [Buffer.alloc(16, 1)] as [Buffer], bytes: 1, limits: { pushes: 1, bytes: 0 } }
    for (const isCounted of [false, true]) {
      const tries = await Promise.allSettled([
        make({ ownerId: ann.id }, { labels, idempotency: keyOf(isCounted ? 1 : 2) }),
        make({ ownerId: bob.id }, { labels, idempotency: keyOf(3) }),
        make({}, { idempotency: keyOf(isCounted ? 1 : 2) }),
        make({}, { idempotency: keyOf(isCounted ? 4 : 5), share: isCounted ? share : null }),
        make({}, { share: isCounted ? share : null }),
      ])
      const codes = tries.map((one) => (one.status === 'fulfilled' ? 'stored' : one.reason.code))
      const expected = ['stored', 'unauthenticated', 'conflict', 'stored', isCounted ? 'too_many' : 'stored']
      expect(codes).toEqual(expected)
      const [owned] = tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
      const found = await opened.nodes[1].lists.findLabels(owned?.id ?? 0)
      expect(Buffer.from(found?.name ?? []).toString()).toBe('name')
    }
    expect(await opened.nodes[1].idempotencyKeys.findKey(keyOf(3).lookup)).toBeNull()
  })

  test('of creates that counts a push with a used key in vain refuses nobody for it', async () => {
    const addresses: [Buffer] = [Buffer.alloc(16, 1)]
    const share = { addresses, bytes: 1, limits: { pushes: 1, bytes: 0 } }
    await make({}, { idempotency: keyOf(1) })
    const [used, other] = await Promise.allSettled([
      make({}, { share, idempotency: keyOf(1) }),
      make({}, { share }),
    ])
    expect(used).toMatchObject({ status: 'rejected', reason: { code: 'conflict' } })
    expect(other.status).toBe('fulfilled')
  })

  test('counts for each address what it has live, while pushes are made and end on both nodes', async () => {
    const limits = { pushes: 12, bytes: 0 }
    const shareOf = (n: number) => ({
      addresses: [Buffer.alloc(16, n % 3)] as [Buffer],
      bytes: 1 + (n % 7),
      limits,
    })
    const nodeOf = (n: number) => opened.nodes[n % 2] ?? opened.nodes[0]
    for (let round = 0; round < 10; round += 1) {
      const visits = Array.from({ length: 120 }, async (_, n) => {
        const store = nodeOf(n)
        const made = await storePush({ store, clock: opened.clock }, {}, { share: shareOf(n) }).catch(
          () => null,
        )
        if (made !== null && n % 4 > 0) await nodeOf(n >> 1).pushes.expirePush({ id: made.id, visit: VISIT })
      })
      await Promise.all(visits)
      const kept = await opened.query(
        'SELECT address, pushes::float8 AS pushes, bytes::float8 AS bytes FROM address_shares ORDER BY address',
      )
      const sums = await opened.query(`SELECT address, count(*)::float8 AS pushes, sum(bytes)::float8 AS bytes
        FROM live_shares GROUP BY address ORDER BY address`)
      expect(kept).toEqual(sums)
      expect(await opened.query('SELECT 1 FROM address_shares WHERE pushes > $1', [limits.pushes])).toEqual(
        [],
      )
      if (round % 3 === 2) opened.clock.advance(2 * DAY)
      if (round % 3 === 2) await Promise.all(opened.nodes.map(({ expiry }) => expiry.expireLapsed()))
    }
  }, 300_000)

  test('of creates and the removal of their owner leave no push of an account that is gone', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id } = await addAccount(`ann${round}`)
      const creates = Array.from({ length: 10 }, () => make({ ownerId: id }, { labels }))
      await Promise.allSettled([...creates, opened.nodes[1].accounts.removeAccount(id)])
      expect(await opened.query('SELECT 1 FROM accounts')).toHaveLength(0)
      expect(await opened.query('SELECT 1 FROM pushes WHERE owner_id IS NOT NULL')).toHaveLength(0)
      await opened.query('DELETE FROM pushes')
    }
  })

  test('of views tells of a push whose secrets are gone, and serves the others', async () => {
    const [damaged, whole] = [await make(), await make()]
    await opened.query('DELETE FROM push_secrets WHERE push_id = $1', [damaged.id])
    const read = (lookup: Uint8Array) =>
      opened.nodes[0].pushes.claimPlain({ lookup, visit: VISIT, lookBy: null, open: () => 'payload' })
    const [first, second] = await Promise.allSettled([read(damaged.lookup), read(whole.lookup)])
    expect(first).toMatchObject({
      status: 'rejected',
      reason: new DamageError(`push ${damaged.id}`, 'server'),
    })
    expect(second).toMatchObject({ value: { content: 'payload' } })
    await expect(opened.nodes[1].pushes.findSealedPush(damaged.lookup)).rejects.toBeInstanceOf(DamageError)
  })

  test('reads no table from end to end, also when it was planned while the tables were empty', async () => {
    const node = opened.nodes[0]
    const read = (lookup: Uint8Array) =>
      node.pushes.claimPlain({ lookup, visit: VISIT, lookBy: null, open: () => 'payload' })
    const { id, lookup } = await make({ expireAfterViews: 2 })
    await read(lookup)
    for (const [table, column] of [
      ['push_secrets', 'push_id'],
      ['pushes', 'id'],
    ])
      await opened.query(
        `INSERT INTO ${table} SELECT (jsonb_populate_record(${table}, jsonb_build_object(
           '${column}', ${column} + n, 'lookup', '\\x' || md5(n::text)))).*
         FROM ${table}, generate_series(1, ${GROWN}) AS n WHERE ${column} = $1`,
        [id],
      )
    const lookups = Array.from({ length: 60 }, (_, n) =>
      new Bun.CryptoHasher('md5').update(String(1 + n)).digest(),
    )
    for (const one of lookups)
      expect(await read(one)).toMatchObject({ content: 'payload', push: { views: 2 } })
    const count = () =>
      opened.query<{ changed: number; scanned: number }>(
        `SELECT sum(n_tup_upd + n_tup_del)::int AS changed, sum(seq_tup_read)::int AS scanned FROM pg_stat_user_tables
         WHERE relname IN ('pushes', 'push_secrets')`,
      )
    // A connection reports its counts when it ends.
    await opened.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE pid <> pg_backend_pid() AND datname = current_database() AND usename = current_user`)
    for (;;) {
      const [{ changed = 0, scanned = 0 } = {}] = await count()
      expect(scanned).toBeLessThan(GROWN)
      if (changed > 2 * lookups.length) break
      await Bun.sleep(50)
    }
  }, 300_000)
})
