// Rows of pushes with times that no push can have. PostgreSQL has no checksums of rows, so the engine looks at the times.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { DAY } from '../../../src/domain/time.ts'
import { openPostgresNodes, type PostgresNodes } from '../../support/postgres-nodes.ts'
import { storePush, VISIT } from '../../support/store.ts'
import { usePostgres } from '../../support/use-postgres.ts'

const postgres = usePostgres()
const [BEYOND, BEFORE] = ['9223372036854775807', '-9223372036854775808']

postgres.describe('a push with a time that is none', () => {
  let opened: PostgresNodes
  beforeEach(async () => {
    opened = await openPostgresNodes(postgres)
  })
  afterEach(() => opened.close())

  type Stored = Parameters<typeof storePush>
  async function damage(column: string, time: string, ...[changes, parts]: [Stored[1]?, Stored[2]?]) {
    const push = await storePush({ store: opened.nodes[0], clock: opened.clock }, changes, parts)
    await opened.query(`UPDATE pushes SET ${column} = ${time} WHERE id = ${push.id}`)
    return push
  }
  const read = (lookup: Uint8Array) =>
    opened.nodes[1].pushes.claimPlain({ lookup, visit: VISIT, lookBy: null, open: () => 'payload' })
  const count = async (table: string) =>
    (await opened.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${table}`))[0]?.n

  test.each(['created_at', 'updated_at', 'expires_at', 'expired_on', 'last_viewed_at', 'wrong_tries_since'])(
    'in %s is named, keeps no other push from being read, and can be ended',
    async (column) => {
      for (const time of [BEYOND, BEFORE]) {
        const whole = await storePush({ store: opened.nodes[0], clock: opened.clock })
        const { id, lookup } = await damage(column, time)
        const named = `damaged in PostgreSQL: push ${id} `
        const { pushes } = opened.nodes[0]
        const [damaged, other] = await Promise.allSettled([read(lookup), read(whole.lookup)])
        expect([damaged.status, other.status]).toEqual(['rejected', 'fulfilled'])
        await expect(pushes.findPush(lookup)).rejects.toThrow(named)
        await expect(pushes.findSealedPush(lookup)).rejects.toThrow(named)
        expect((await pushes.findPush(lookup, { toEnd: true }))?.id).toBe(id)
        const ended = await pushes.expirePush({ id, visit: VISIT })
        expect(() => new Date(ended?.createdAt ?? Number.NaN).toISOString()).not.toThrow()
        expect((await pushes.findPush(lookup))?.expiredOn).toBeGreaterThan(0)
      }
    },
  )

  test('is left out of the list of its owner, and counted there', async () => {
    const { id: ownerId } = await opened.nodes[0].accounts.addAccount({
      ...{ email: 'ann@example.org', passwordHash: 'x', isAdmin: false },
    })
    const labels = { urlToken: Buffer.from('sealed'), name: null, note: null }
    await damage('created_at', BEYOND, { ownerId }, { labels })
    const list = await opened.nodes[1].lists.listPushes({ ownerId, expired: false, pageNumber: 1 })
    expect([list.pushes.length, list.damaged]).toEqual([0, 1])
  })

  test('ends by the sweeper: at once before all dates, or when it would have ended at the latest', async () => {
    const { expiry } = opened.nodes[0]
    await damage('expires_at', BEFORE)
    expect(await expiry.expireLapsed()).toBe(1)
    await damage('expires_at', BEYOND, { expireAfterDays: 3 })
    expect([await expiry.findNextLapse(), await expiry.expireLapsed()]).toEqual([null, 0])
    opened.clock.advance(3 * DAY)
    expect(await expiry.expireLapsed()).toBe(1)
    expect(await count('push_secrets')).toBe(0)
    opened.clock.advance(DAY)
    expect(await expiry.purgeExpired({ of: 'anonymous', until: opened.clock.now() })).toBe(2)
    await damage('expired_on', BEYOND)
    expect(await expiry.purgeExpired({ of: 'anonymous', until: opened.clock.now() })).toBe(1)
    expect(await count('pushes')).toBe(0)
  })
})
