// Creates and views at the same time: each has its own outcome.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { DamageError } from '../../../src/domain/errors.ts'
import { DAY } from '../../../src/domain/time.ts'
import { openPostgresNodes, type PostgresNodes } from '../../support/postgres-nodes.ts'
import { storePush, VISIT } from '../../support/store.ts'
import { usePostgres } from '../../support/use-postgres.ts'

const postgres = usePostgres()

postgres.describe('concurrent batches', () => {
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
  const labels = { urlToken: Buffer.from('token'), name: Buffer.from('name'), note: null, request: null }

  test('of creates store the allowed ones, each with its dependent rows', async () => {
    const [ann, bob] = [await addAccount('ann'), await addAccount('bob')]
    await opened.nodes[1].accounts.setDisabled({ id: bob.id, disabled: true })
    const share = { addresses: [Buffer.alloc(16, 1)] as [Buffer], bytes: 1, limits: { pushes: 1, bytes: 0 } }
    const tries = await Promise.allSettled([
      make({ ownerId: ann.id }, { labels, idempotency: keyOf(1) }),
      make({ ownerId: bob.id }, { labels, idempotency: keyOf(3) }),
      make({ ownerId: ann.id }, { labels, idempotency: keyOf(1) }),
      make({}, { share }),
      make({}, { share }),
    ])
    const codes = tries.map((one) => (one.status === 'fulfilled' ? 'stored' : one.reason.code))
    expect(codes.toSorted()).toEqual(['conflict', 'stored', 'stored', 'too_many', 'unauthenticated'])
    expect(codes[1]).toBe('unauthenticated')
    const [owned] = tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    const found = await opened.nodes[1].lists.findLabels(owned?.id ?? 0)
    expect(Buffer.from(found?.name ?? []).toString()).toBe('name')
    expect(await opened.nodes[1].idempotencyKeys.findKey(keyOf(3).lookup)).toBeNull()
  })

  test('of creates with a used idempotency key do not count the refused push against other creates', async () => {
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

  test('of creates and ends on both nodes keep the count of live pushes for each address', async () => {
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
      while ((await nodeOf(round).expiry.expireLapsed()) > 0) await Bun.sleep(0)
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

  test('of views report a push without secrets, and serve the others', async () => {
    const [damaged, whole] = [await make(), await make()]
    await opened.query('DELETE FROM push_secrets WHERE push_id = $1', [damaged.id])
    const read = (lookup: Uint8Array) =>
      opened.nodes[0].pushes.claimPlain({ lookup, visit: VISIT, lookBy: null, open: () => 'payload' })
    const [first, second] = await Promise.allSettled([read(damaged.lookup), read(whole.lookup)])
    expect(first).toMatchObject({
      status: 'rejected',
      reason: new DamageError(`push ${damaged.id}`),
    })
    expect(second).toMatchObject({ value: { content: 'payload' } })
    await expect(opened.nodes[1].pushes.findSealedPush(damaged.lookup)).rejects.toBeInstanceOf(DamageError)
  })
})
