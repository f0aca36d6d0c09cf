// What nodes share in PostgreSQL: limits, nonces, turns and offers, used by two nodes with connections of their own.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { isDomainError } from '../../../src/domain/errors.ts'
import { DAY, HOUR, MINUTE } from '../../../src/domain/time.ts'
import { limitKey } from '../../../src/http/door/client-address.ts'
import { createSignInLimit } from '../../../src/services/accounts/sign-in-limit.ts'
import { createPageNonces, type PageNonces } from '../../../src/services/pushes/page-nonces.ts'
import { installedEngines } from '../../support/database-servers.ts'
import { startTestPostgres, type TestPostgres } from '../../support/postgres.ts'
import { openPostgresNodes, type PostgresNodes } from '../../support/postgres-nodes.ts'

const START_MS = 120_000

describe.skipIf(!installedEngines().includes('postgres'))('two nodes share', () => {
  let postgres: TestPostgres
  let opened: PostgresNodes
  beforeAll(async () => {
    postgres = await startTestPostgres()
  }, START_MS)
  afterAll(() => postgres.stop())
  beforeEach(async () => {
    opened = await openPostgresNodes(postgres)
  })
  afterEach(() => opened.close())

  describe('limits on tries', () => {
    const limits = () =>
      opened.shared.map(({ budgets }) =>
        createSignInLimit({
          ...{ budgets, now: opened.clock.now, clientOf: limitKey },
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
      opened.clock.advance(15 * MINUTE)
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
})
