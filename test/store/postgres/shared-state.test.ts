// What nodes share in PostgreSQL: limits, nonces, turns and offers, used by two nodes with connections of their own.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createSignInLimit } from '../../../src/accounts/sign-in-limit.ts'
import { createTwoFactorOffers, type TwoFactorOffers } from '../../../src/accounts/two-factor-offers.ts'
import { networkOf } from '../../../src/domain/client.ts'
import { isDomainError } from '../../../src/domain/errors.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/domain/time.ts'
import { createLimitRate, exchangedOf, type LimitRate } from '../../../src/http/door/rate-limit.ts'
import { createPageNonces, type PageNonces } from '../../../src/pushes/page-nonces.ts'
import type { Transact } from '../../../src/store/postgres/engine/database.ts'
import { createSharedRows } from '../../../src/store/postgres/shared/shared-state.ts'
import type { CountExchange, TurnStore } from '../../../src/store/shared-face.ts'
import { openPostgresNodes, type PostgresNodes } from '../../support/postgres-nodes.ts'
import { storePush, VISIT } from '../../support/store.ts'
import { usePostgres } from '../../support/use-postgres.ts'

const NO_EDIT = {
  ...{ expireAfterDays: null, duration: null, expiresAt: null, expireAfterViews: null },
}

const postgres = usePostgres()

postgres.describe('two nodes share', () => {
  let opened: PostgresNodes
  beforeEach(async () => {
    opened = await openPostgresNodes(postgres)
  })
  afterEach(() => opened.close())

  describe('limits on tries', () => {
    const limits = () =>
      opened.shared.map(({ budgets }) =>
        createSignInLimit({
          ...{ budgets, now: opened.clock.now, clientOf: networkOf },
          knownAddresses: async () => [],
        }),
      )
    const sign = async (tries: number, isRight: boolean, { email = 'ann@x', address = '192.0.2.1' } = {}) => {
      const nodes = limits()
      const all = await Promise.all(
        Array.from({ length: tries }, (_, n) =>
          nodes[n % 2]
            ?.tryPassword({ email, address }, { work: async () => isRight, isRight: Boolean })
            .then(String, (cause) => (isDomainError(cause, 'too_many') ? 'too_many' : String(cause))),
        ),
      )
      return Object.fromEntries(
        [...new Set(all)].map((told) => [told, all.filter((one) => one === told).length]),
      )
    }

    test('exactly ten wrong passwords are tried, however two nodes race', async () => {
      for (let round = 0; round < 5; round += 1) {
        const email = `${round}@x`
        const address = `192.0.2.${round}`
        expect(await sign(40, false, { email, address })).toEqual({ false: 10, too_many: 30 })
        expect(await sign(4, true, { email, address })).toEqual({ too_many: 4 })
      }
    })

    test('right passwords are given back, and tries come back when the window ends', async () => {
      expect(await sign(8, true)).toEqual({ true: 8 })
      expect(await sign(9, false)).toEqual({ false: 9 })
      expect(await sign(1, true)).toEqual({ true: 1 })
      expect(await sign(4, false)).toEqual({ false: 1, too_many: 3 })
      opened.clock.advance(15 * MINUTE + SECOND)
      expect(await sign(12, false)).toEqual({ false: 10, too_many: 2 })
    })

    test('a refused try is counted nowhere, and a window from a clock that was ahead is over', async () => {
      opened.clock.advance(100 * DAY)
      expect(await sign(60, false)).toMatchObject({ false: 10 })
      const rows = await opened.query<{ points: number }>('SELECT points FROM spent_points ORDER BY points')
      expect(rows.map(({ points }) => points)).toEqual([10, 10, 10, 10])
      opened.clock.advance(-100 * DAY)
      expect(await sign(1, true)).toEqual({ true: 1 })
    })

    test('tries that could not be given back are given back later, once each', async () => {
      const failed: unknown[] = []
      const { keyring, clock, query } = opened
      let isDown = false
      const database = opened.pools[0]
      const transact: Transact = (work, options) =>
        isDown ? Promise.reject(new Error('down')) : database.transact(work, options)
      const { state, settle } = createSharedRows({
        ...{ read: database.read, transact, keyring, now: clock.now, trusted: clock.now },
        onError: (cause) => failed.push(cause),
      })
      const budget = { name: 'a', tries: 5, window: MINUTE }
      const tries = [1, 2, 3].map(() => state.budgets.take({ counts: [budget], refuse: () => null }))
      const counted = (await Promise.all(tries)).flatMap(({ states }) => states)
      isDown = true
      for (const one of counted.slice(0, 2)) await state.budgets.giveBack([one])
      expect(failed).toHaveLength(2)
      await expect(settle()).rejects.toThrow('down')
      isDown = false
      await settle()
      await settle()
      expect(await query('SELECT points FROM spent_points')).toEqual([{ points: 1 }])
    })

    test('the rows name nobody', async () => {
      await sign(1, false, { email: 'my password' })
      const rows = await opened.query<{ name: string }>('SELECT name FROM spent_points')
      for (const { name } of rows) expect(name).toMatch(/^[\w-]{22}$/)
    })
  })

  describe('nonces of pages', () => {
    const pages = () =>
      opened.shared.map(({ nonces }) => createPageNonces({ nonces, now: opened.clock.now })) as [
        PageNonces,
        PageNonces,
      ]

    test('a nonce of one node is good on another, once in all', async () => {
      const [one, other] = pages()
      for (let round = 0; round < 10; round += 1) {
        const nonce = one.issue('push')
        expect(await other.use(nonce, 'another push')).toBe('stale')
        const uses = await Promise.all([one, other, one, other].map((node) => node.use(nonce, 'push')))
        expect(uses.sort()).toEqual(['good', 'used', 'used', 'used'])
      }
    })

    test('a node that starts again knows what was used', async () => {
      const nonce = pages()[0].issue('push')
      expect(await pages()[0].use(nonce, 'push')).toBe('good')
      expect(await pages()[1].use(nonce, 'push')).toBe('used')
      opened.clock.advance(13 * HOUR)
      expect(await pages()[1].use(nonce, 'push')).toBe('stale')
    })
  })

  describe('turns', () => {
    type Turns = [TurnStore, TurnStore]
    const turnOf = (name: string) => ({ name, since: performance.now() })
    const turnsOf = () => opened.shared.map(({ turns }) => turns) as Turns

    test('work of one name runs one after another, and each node gets its turn', async () => {
      const turns = turnsOf()
      let running = 0
      let most = 0
      const done: number[] = []
      const work = (node: number) => async () => {
        running += 1
        most = Math.max(most, running)
        await Bun.sleep(20)
        running -= 1
        done.push(node)
      }
      const many = async (node: 0 | 1) => {
        for (let n = 0; n < 10; n += 1) await turns[node].inTurn(turnOf('a'), work(node))
      }
      await Promise.all([many(0), many(1)])
      expect(most).toBe(1)
      expect(new Set(done.slice(0, 12)).size).toBe(2)
      expect(await opened.query('SELECT 1 FROM leases')).toEqual([])
    })

    test('works of other names do not wait', async () => {
      const [one, other] = turnsOf()
      const result = await one.inTurn(turnOf('a'), () => other.inTurn(turnOf('b'), async () => 'both'))
      expect(result).toBe('both')
    })

    test('the lease of a dead node lapses, and one of a clock that was set back too', async () => {
      const [one] = turnsOf()
      const soon = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'
      for (const until of [`${soon} + 500`, `${soon} + 3600000`]) {
        await opened.query(
          `INSERT INTO leases (name, holder, until, wanted) VALUES ('a', 'dead', ${until}, false)`,
        )
        expect(await one.inTurn(turnOf('a'), async () => 'mine')).toBe('mine')
      }
    })

    test('nobody is told the outcome of work whose lease another node took over', async () => {
      const [one, other] = turnsOf()
      const lost = one.inTurn(turnOf('a'), async () => {
        await opened.query('UPDATE leases SET until = 0')
        return other.inTurn(turnOf('a'), async () => 'the right passphrase')
      })
      await expect(lost).rejects.toMatchObject({ code: 'overloaded' })
    })

    test('work that throws gives the turn back', async () => {
      const [one, other] = turnsOf()
      await expect(one.inTurn(turnOf('a'), () => Promise.reject(new Error('no')))).rejects.toThrow('no')
      expect(await other.inTurn(turnOf('a'), async () => 'next')).toBe('next')
    })
  })

  describe('offers for authenticator apps', () => {
    const offersOf = () =>
      opened.shared.map(({ offers }) =>
        createTwoFactorOffers({ offers, keyring: opened.keyring, now: opened.clock.now }),
      ) as [TwoFactorOffers, TwoFactorOffers]

    test('a session sees the same secret on each node, until it is used or an hour has passed', async () => {
      const [one, other] = offersOf()
      const seen = await Promise.all([one, other, one, other].map((node) => node.secretFor(7)))
      const [secret = ''] = seen
      expect(new Set(seen).size).toBe(1)
      expect(await other.secretFor(8)).not.toBe(secret)
      expect(await opened.query('SELECT 1 FROM two_factor_offers WHERE secret = $1', [secret])).toEqual([])
      opened.clock.advance(HOUR + SECOND)
      const next = await one.secretFor(7)
      expect(next).not.toBe(secret)
      await other.forget(7)
      expect(await one.secretFor(7)).not.toBe(next)
    })

    test('an offer under a key that is gone is replaced', async () => {
      const [{ offers }] = opened.shared
      await offers.keep({ session: 7, sealed: Buffer.alloc(60, 1), until: opened.clock.now() + HOUR })
      const secret = await offersOf()[0].secretFor(7)
      expect(await offersOf()[1].secretFor(7)).toBe(secret)
    })
  })

  describe('counts that nodes exchange', () => {
    const exchangeAll = async () => {
      for (const { exchange } of [...opened.sharing, ...opened.sharing]) await exchange()
    }
    const refusals = async (limit: LimitRate, times: number) => {
      const all = await Promise.allSettled(Array.from({ length: times }, () => limit('192.0.2.1')))
      return all.filter(({ status }) => status === 'rejected').length
    }

    test('an address that is refused on one node is refused on the other', async () => {
      const rate = { requests: 100, seconds: 3600 }
      const limits = opened.shared.map(({ exchange }) =>
        createLimitRate(rate, { clientOf: networkOf, elsewhere: exchange(exchangedOf(rate)) }),
      )
      const [one, other] = limits as [LimitRate, LimitRate]
      expect(await refusals(one, 60)).toBe(0)
      expect(await refusals(other, 30)).toBe(0)
      await exchangeAll()
      expect(await refusals(other, 20)).toBe(10)
      await exchangeAll()
      expect(await refusals(one, 5)).toBe(5)
      await expect(one('192.0.2.2')).resolves.toBeUndefined()
    })

    test('what others counted ends with the window, and no count is told twice', async () => {
      const kind = { kind: 'k', window: MINUTE, least: 2 }
      const [one, other] = opened.shared.map(({ exchange }) => exchange(kind)) as [
        CountExchange,
        CountExchange,
      ]
      const note = (node: CountExchange, times: number) => {
        for (let n = 0; n < times; n += 1) node.note('a')
      }
      note(one, 1)
      note(other, 5)
      await exchangeAll()
      expect([one.others('a'), other.others('a')]).toEqual([0, 0])
      note(one, 2)
      note(other, 1)
      await exchangeAll()
      expect([one.others('a'), other.others('a')]).toEqual([6, 3])
      note(other, 1)
      await exchangeAll()
      await exchangeAll()
      expect([one.others('a'), other.others('a')]).toEqual([7, 3])
      opened.clock.advance(MINUTE + SECOND)
      expect([one.others('a'), other.others('a')]).toEqual([0, 0])
      note(one, 2)
      note(other, 2)
      await exchangeAll()
      expect(other.others('a')).toBe(2)
    })
  })

  test('a name that one node changes has another mark on the other, and one that is viewed has not', async () => {
    const [one, other] = opened.nodes
    const { clock } = opened
    const owner = await one.accounts.addAccount({ email: 'ann@x', passwordHash: 'x', isAdmin: false })
    const labels = { urlToken: Buffer.from('token'), name: Buffer.from('before'), note: null }
    const push = await storePush({ store: one, clock }, { ownerId: owner.id }, { labels })
    const markOf = async ({ lists }: typeof one) =>
      (await Array.fromAsync(lists.readFacts({ ownerId: owner.id, expired: false }))).flat()[0]?.textsMark
    const before = await markOf(one)
    await other.pushes.claimView({ id: push.id, visit: VISIT, lookBy: null })
    expect(await markOf(one)).toBe(before)
    const edit = { labels: { name: Buffer.from('after') }, edit: NO_EDIT }
    await other.pushes.editPush({ id: push.id, ownerId: owner.id, visit: VISIT, ...edit })
    expect(await markOf(one)).not.toBe(before)
  })

  test('the sweep removes what has lapsed, also beside another node that sweeps', async () => {
    const [one, other] = opened.sharing
    await opened.query(`INSERT INTO used_nonces SELECT n::text, 0 FROM generate_series(1, 2500) AS n`)
    await opened.query(`INSERT INTO leases VALUES ('dead', 'h', 0, false)`)
    const { nonces, budgets, offers } = opened.shared[0]
    const at = opened.clock.now()
    await nonces.use({ nonce: 'new', lapsesAt: at + DAY })
    await budgets.take({ counts: [{ name: 'a', tries: 1, window: MINUTE }], refuse: () => null })
    await offers.keep({ session: 1, sealed: Buffer.alloc(9), until: at + MINUTE })
    const removed = await Promise.all([one.sweep(), other.sweep()])
    expect(removed.reduce((sum, some) => sum + some)).toBe(2501)
    expect(await opened.query('SELECT nonce FROM used_nonces')).toEqual([{ nonce: 'new' }])
    opened.clock.advance(2 * DAY)
    expect(await other.sweep()).toBe(3)
  })
})
