// Pushes on two nodes with one database: concurrent requests of both.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { DAY } from '../../../src/domain/time.ts'
import { createSteps } from '../../../src/store/postgres/engine/run-steps.ts'
import { setBackDates } from '../../../src/store/pushes/doubted-dates.ts'
import { openPostgresNodes, type PostgresNodes } from '../../support/postgres-nodes.ts'
import { storePush, VISIT } from '../../support/store.ts'
import { usePostgres } from '../../support/use-postgres.ts'

const postgres = usePostgres()

postgres.describe('two nodes', () => {
  let opened: PostgresNodes
  beforeEach(async () => {
    opened = await openPostgresNodes(postgres)
  })
  afterEach(() => opened.close())

  const make = (...[changes, parts]: [Parameters<typeof storePush>[1]?, Parameters<typeof storePush>[2]?]) =>
    storePush({ store: opened.nodes[0], clock: opened.clock }, changes, parts)
  const nodeOf = (n: number) => opened.nodes[n % 2] ?? opened.nodes[0]
  const kindsOf = async (id: number) =>
    (await Array.fromAsync(opened.nodes[1].audit.readAll({ id }))).flat().map(({ kind }) => kind)
  const read = (n: number, lookup: Uint8Array) =>
    nodeOf(n).pushes.claimPlain({ lookup, visit: VISIT, lookBy: null, open: () => 'payload' })

  test('refuse a second push with the same link', async () => {
    const { id } = await make()
    const columns = `lookup, key_number, kind, created_at, expires_at, expire_after_days, expire_after_views,
      retrieval_step, shows_sender, passphrase_required, deleted, lost, files`
    const second = opened.query(
      `INSERT INTO pushes (${columns}) SELECT ${columns} FROM pushes WHERE id = $1`,
      [id],
    )
    await expect(second).rejects.toThrow('pushes_lookup_key')
  })

  test('hand out the payload of a one-view push once, whatever the number of readers', async () => {
    for (let round = 0; round < 12; round += 1) {
      const push = await make({ expireAfterViews: 1 })
      const claims = await Promise.all(Array.from({ length: 64 }, (_, n) => read(n, push.lookup)))
      const views = claims.filter((one) => one?.outcome === 'view' && one.content !== null)
      expect(views).toHaveLength(1)
      const kinds = await kindsOf(push.id)
      expect(kinds.filter((kind) => kind === 'view')).toHaveLength(1)
      expect(kinds.filter((kind) => kind === 'failed_view')).toHaveLength(0)
      expect((await nodeOf(0).pushes.findPush(push.lookup))?.failures).toBe(63)
      expect((await opened.nodes[1].pushes.findSealedPush(push.lookup))?.sealed).toBeNull()
    }
  }, 300_000)

  test('hand out the payload of five-view pushes five times, many pushes at once', async () => {
    const pushes = await Promise.all(Array.from({ length: 40 }, () => make({ expireAfterViews: 5 })))
    const claims = await Promise.all(
      Array.from({ length: 12 }, (_, n) => pushes.map(({ lookup }) => read(n, lookup))).flat(),
    )
    const views = claims.filter((one) => one?.outcome === 'view' && one.content !== null)
    expect(views).toHaveLength(200)
    for (const { id, lookup } of pushes) {
      expect(await nodeOf(id).pushes.findPush(lookup)).toMatchObject({ views: 5, failures: 7 })
      const kinds = await kindsOf(id)
      expect(kinds.filter((kind) => kind === 'view')).toHaveLength(5)
    }
  }, 300_000)

  test('correct the dates of a push once after the clock was ahead, even if both try at once', async () => {
    const now = opened.clock.now()
    opened.clock.set(now + 30 * DAY)
    const { lookup, expiresAt } = await make()
    const clock = { now: () => now, doubt: () => null, wasAhead: () => 30 * DAY }
    const move = ({ read, transact }: PostgresNodes['pools'][number]) =>
      setBackDates(createSteps({ read, transact, onEffect: () => undefined }), clock)
    await Promise.all(opened.pools.map(move))
    expect((await opened.nodes[0].pushes.findPush(lookup))?.expiresAt).toBe(expiresAt - 30 * DAY)
  })

  test('count no view if the content cannot be decrypted, and count concurrent views', async () => {
    const [damaged, whole] = [await make(), await make()]
    const broken = nodeOf(0).pushes.claimPlain({
      lookup: damaged.lookup,
      visit: VISIT,
      lookBy: null,
      open: () => {
        throw new Error('damaged')
      },
    })
    const [first, second, third] = await Promise.allSettled([
      broken,
      read(0, damaged.lookup),
      read(0, whole.lookup),
    ])
    expect(first).toMatchObject({ status: 'rejected', reason: { message: 'damaged' } })
    expect(second).toMatchObject({ value: { outcome: 'view', content: 'payload', push: { views: 1 } } })
    expect(third).toMatchObject({ value: { outcome: 'view', push: { views: 1 } } })
    expect(await kindsOf(damaged.id)).toEqual(['creation', 'view'])
  })

  test('keep the limits of an address exactly', async () => {
    const share = { addresses: [Buffer.alloc(16, 1)] as [Buffer], bytes: 10, limits: { pushes: 7, bytes: 0 } }
    const tries = await Promise.allSettled(
      Array.from({ length: 40 }, (_, n) =>
        storePush({ store: nodeOf(n), clock: opened.clock }, { expireAfterViews: 1 }, { share }),
      ),
    )
    const made = tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(made).toHaveLength(7)
    const refused = tries.find((one) => one.status === 'rejected')
    expect(refused?.reason).toMatchObject({
      code: 'too_many',
      details: { room: { limit: 'pushes', most: 7 } },
    })
    const addresses: [Buffer, Buffer] = [Buffer.alloc(16, 2), Buffer.alloc(16, 3)]
    const tooLarge = { addresses, bytes: 10, limits: { pushes: 0, bytes: 9 } }
    await expect(make({}, { share: tooLarge })).rejects.toMatchObject({ code: 'too_many' })
    await Promise.all(made.slice(0, 3).map(({ lookup }, n) => read(n, lookup)))
    expect(
      await opened.query('SELECT pushes::int AS pushes, bytes::int AS bytes FROM address_shares'),
    ).toEqual([{ pushes: 4, bytes: 40 }])
    await Promise.all(made.map(({ lookup }, n) => read(n, lookup)))
    expect(await opened.query('SELECT 1 FROM address_shares')).toHaveLength(0)
  }, 300_000)

  test('let one create use an idempotency key, and another after the key has expired', async () => {
    const key = () => ({
      lookup: Buffer.alloc(32, 9),
      lapsesAt: opened.clock.now() + DAY,
      answer: Buffer.alloc(88, 3),
    })
    for (let day = 0; day < 3; day += 1) {
      const tries = await Promise.allSettled(
        Array.from({ length: 12 }, (_, n) =>
          storePush({ store: nodeOf(n), clock: opened.clock }, {}, { idempotency: key() }),
        ),
      )
      expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      for (const one of tries)
        if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'conflict' })
      opened.clock.advance(DAY)
    }
    expect(await opened.query('SELECT count(*)::int AS n FROM pushes')).toEqual([{ n: 3 }])
  }, 300_000)

  test('keep the first of many failures and owner views, and count the others', async () => {
    const account = { email: 'ann@example.org', passwordHash: 'x', isAdmin: false }
    const owner = await opened.nodes[0].accounts.addAccount(account)
    const { id, lookup } = await make({ ownerId: owner.id, expireAfterViews: 1 })
    const look = (n: number) => nodeOf(n).pushes.claimView({ id, visit: VISIT, lookBy: owner })
    for (let round = 0; round < 2; round += 1)
      await Promise.all(Array.from({ length: 350 }, (_, n) => look(n)))
    await read(0, lookup)
    for (let round = 0; round < 2; round += 1)
      await Promise.all(Array.from({ length: 350 }, (_, n) => read(n, lookup)))
    expect(await opened.nodes[1].pushes.findPush(lookup)).toMatchObject({
      ...{ failures: 700, ownerViews: 700, countedFailures: 200 },
      countedFrom: VISIT.ip,
    })
    const kinds = await kindsOf(id)
    const count = (kind: string) => kinds.filter((one) => one === kind).length
    expect({ failures: count('failed_view'), looks: count('owner_view') }).toEqual({
      failures: 500,
      looks: 500,
    })
    const [rows] = await opened.query<{ n: number }>('SELECT count(*)::int AS n FROM audit_entries')
    expect(rows?.n).toBe(2 + 500 + 500)
  }, 300_000)

  test('read payloads of any size, many at once', async () => {
    const sizes = [0, 16_384, 16_385, 1, ...Array.from({ length: 20 }, (_, n) => 1_000_000 + n)]
    const pushes = await Promise.all(
      sizes.map((size, n) => {
        const salt = Buffer.alloc(16, n)
        const secrets = {
          salt,
          wrappedKey: Buffer.alloc(62, n),
          payload: Buffer.alloc(size, n),
          passphraseSalt: null,
        }
        return make({}, { secrets })
      }),
    )
    const claims = await Promise.all(
      pushes.map(({ lookup }, n) =>
        nodeOf(n).pushes.claimPlain({
          lookup,
          visit: VISIT,
          lookBy: null,
          open: ({ sealed }) => Buffer.from(sealed?.secrets.payload ?? []),
        }),
      ),
    )
    for (const [n, size] of sizes.entries()) {
      const claimed = claims[n]
      const content = claimed?.outcome === 'view' ? claimed.content : null
      expect(content?.equals(Buffer.alloc(size, n))).toBe(true)
    }
  }, 300_000)

  test('keep any text of a visit in the log unchanged', async () => {
    const texts = ['', 'NULL', '"quoted"', '\\x00', '{a,b}', 'ü😀', 'a\tb', 'nul \0 nul']
    const { id } = await make({ expireAfterViews: 9 })
    for (const userAgent of texts)
      await nodeOf(0).pushes.claimView({ id, visit: { ...VISIT, userAgent }, lookBy: null })
    const log = (await Array.fromAsync(opened.nodes[1].audit.readAll({ id }))).flat()
    const expected = texts.map((text) => text.replaceAll('\0', '\ufffd'))
    expect(log.slice(1).map(({ userAgent }) => userAgent)).toEqual(expected)
  })
})
