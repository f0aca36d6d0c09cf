// State that nodes share in PostgreSQL: limits and nonces, used by nodes with separate connections.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { createSignInLimit } from '../../../src/accounts/sign-in-limit.ts'
import { networkOf } from '../../../src/domain/client.ts'
import { isDomainError } from '../../../src/domain/errors.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/domain/time.ts'
import { createPageSeals, type PageNonces } from '../../../src/pushes/page-seals.ts'
import { openPostgresNodes, type PostgresNodes } from '../../support/postgres-nodes.ts'
import { examplePush, VISIT } from '../../support/store.ts'
import { usePostgres } from '../../support/use-postgres.ts'

const postgres = usePostgres()

postgres.describe('two nodes share', () => {
  let opened: PostgresNodes
  beforeEach(async () => {
    opened = await openPostgresNodes(postgres)
  })
  afterEach(() => opened.close())

  const secrets = { salt: Buffer.alloc(16), wrappedKey: Buffer.alloc(62), payload: Buffer.alloc(9) }
  const makeGuarded = async () =>
    (
      await opened.nodes[0].pushes.createPush({
        push: examplePush(opened.clock.now(), { passphraseRequired: true, expireAfterViews: 90 }),
        ...{ ownerResets: 0, lookup: randomBytes(16), keyNumber: 1, labels: null, files: [] },
        ...{
          secrets: { ...secrets, passphraseSalt: Buffer.alloc(16) },
          answer: null,
          idempotency: null,
          mails: [],
          share: null,
        },
        visit: VISIT,
      })
    ).id

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

    test('allow exactly ten wrong passwords, even if two nodes race', async () => {
      for (let round = 0; round < 5; round += 1) {
        const email = `${round}@x`
        const address = `192.0.2.${round}`
        expect(await sign(40, false, { email, address })).toEqual({ false: 10, too_many: 30 })
        expect(await sign(4, true, { email, address })).toEqual({ too_many: 4 })
      }
    })

    test('do not count right passwords, and reset when the window ends', async () => {
      expect(await sign(8, true)).toEqual({ true: 8 })
      expect(await sign(9, false)).toEqual({ false: 9 })
      expect(await sign(1, true)).toEqual({ true: 1 })
      expect(await sign(4, false)).toEqual({ false: 1, too_many: 3 })
      opened.clock.advance(15 * MINUTE + SECOND)
      expect(await sign(12, false)).toEqual({ false: 10, too_many: 2 })
    })

    test('do not count a refused try, and ignore a window from a clock that was ahead', async () => {
      opened.clock.advance(100 * DAY)
      expect(await sign(60, false)).toMatchObject({ false: 10 })
      const rows = await opened.query<{ points: number }>('SELECT points FROM spent_points ORDER BY points')
      expect(rows.map(({ points }) => points)).toEqual([10, 10, 10, 10])
      opened.clock.advance(-100 * DAY)
      expect(await sign(1, true)).toEqual({ true: 1 })
    })

    test('store no names or addresses', async () => {
      await sign(1, false, { email: 'my password' })
      const rows = await opened.query<{ name: string }>('SELECT name FROM spent_points')
      for (const { name } of rows) expect(name).toMatch(/^[\w-]{22}$/)
    })
  })

  describe('nonces of pages', () => {
    const pages = () =>
      opened.shared.map(
        ({ nonces: usedNonces }) =>
          createPageSeals({ usedNonces, keyring: opened.keyring, now: opened.clock.now }).nonces,
      ) as [PageNonces, PageNonces]

    /** Presses the button of a page of this push, on the node whose pages these are. */
    const presser = async () => {
      const id = await makeGuarded()
      return async (node: number, [all, text, subject]: [PageNonces[], string, string]) =>
        all[node]?.press({ text, subject }, async (nonce) => {
          const claim = { id, visit: VISIT, lookBy: null, nonce }
          return (await opened.nodes[node as 0 | 1].pushes.claimView(claim))?.outcome
        })
    }

    test('of one node are valid on another, for one view in total', async () => {
      const all = pages()
      const press = await presser()
      for (let round = 0; round < 10; round += 1) {
        const nonce = all[0].issue('push')
        expect(await press(1, [all, nonce, 'another push'])).toBe('stale')
        const uses = await Promise.all([0, 1, 0, 1].map((node) => press(node, [all, nonce, 'push'])))
        expect(uses.sort()).toEqual(['used', 'used', 'used', 'view'])
      }
      expect(await opened.query('SELECT views FROM push_state')).toEqual([{ views: 10 }])
      expect(await opened.query('SELECT count(*)::int AS n FROM spent_points')).toEqual([{ n: 10 }])
    })

    test('stay used up for a restarted node', async () => {
      const press = await presser()
      const nonce = pages()[0].issue('push')
      expect(await press(0, [pages(), nonce, 'push'])).toBe('view')
      expect(await press(1, [pages(), nonce, 'push'])).toBe('used')
      opened.clock.advance(13 * HOUR)
      expect(await press(1, [pages(), nonce, 'push'])).toBe('stale')
    })
  })

  describe('passphrases', () => {
    test('get at most five wrong answers a minute over three nodes, and no right one afterwards', async () => {
      for (let round = 0; round < 5; round += 1) {
        const id = await makeGuarded()
        const tries = Array.from({ length: 30 }, async (_, n) => {
          const { pushes } = opened.nodes[n % 3] ?? opened.nodes[0]
          return (await pushes.refusePassphrase({ id, visit: VISIT, maxTries: 0 }))?.outcome
        })
        const outcomes = await Promise.all(tries)
        expect(outcomes.filter((outcome) => outcome === 'refused')).toHaveLength(5)
        expect(outcomes.filter((outcome) => outcome === 'limited')).toHaveLength(25)
        const claims = opened.nodes.map(({ pushes }) => pushes.claimView({ id, visit: VISIT, lookBy: null }))
        for (const claimed of await Promise.all(claims)) expect(claimed?.outcome).toBe('limited')
        expect(await opened.query('SELECT views, failures FROM push_state WHERE push_id = $1', [id])).toEqual(
          [{ views: 0, failures: 5 }],
        )
        opened.clock.advance(MINUTE + SECOND)
        const claimed = await opened.nodes[2].pushes.claimView({ id, visit: VISIT, lookBy: null })
        expect(claimed?.outcome).toBe('view')
      }
    })
  })

  test('expired rows are removed, even while another node sweeps', async () => {
    await opened.query(`INSERT INTO spent_points SELECT n::text, 1, 0 FROM generate_series(1, 2500) AS n`)
    const [{ nonces, budgets, removeLapsed }, other] = opened.shared
    const at = opened.clock.now()
    const claim = { id: await makeGuarded(), visit: VISIT, lookBy: null }
    const nonce = { text: 'new', lapsesAt: at + DAY }
    expect(await nonces.isSpent('new')).toBe(false)
    await opened.nodes[0].pushes.claimView({ ...claim, nonce })
    expect(await nonces.isSpent('new')).toBe(true)
    await budgets.take({ counts: [{ name: 'a', tries: 1, window: MINUTE }], refuse: () => null })
    const sweep = async (remove: () => Promise<number>) => {
      let removed = 0
      for (let some = 1; some > 0; removed += some) some = await remove()
      return removed
    }
    const removed = await Promise.all([sweep(removeLapsed), sweep(other.removeLapsed)])
    expect(removed.reduce((sum, some) => sum + some)).toBe(2500)
    expect(await opened.query("SELECT name FROM spent_points WHERE name LIKE 'nonce %'")).toEqual([
      { name: 'nonce new' },
    ])
    opened.clock.advance(2 * DAY)
    expect(await other.removeLapsed()).toBe(2)
  })
})
