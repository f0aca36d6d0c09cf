// The outbox on several nodes over one database.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { MINUTE, SECOND } from '../../../src/domain/time.ts'
import { openPostgresNodes, type PostgresNodes } from '../../support/postgres-nodes.ts'
import { storePush, view } from '../../support/store.ts'
import { usePostgres } from '../../support/use-postgres.ts'

const postgres = usePostgres()
const LABELS = { urlToken: Buffer.from('token'), name: null, note: null }
const HOOKS = 8
const VIEWS = 5

postgres.describe('two nodes', () => {
  let opened: PostgresNodes
  beforeEach(async () => {
    opened = await openPostgresNodes(postgres)
  })
  afterEach(() => opened.close())

  test('take each message once, and again only when its lease has ended', async () => {
    const [store] = opened.nodes
    const { id: ownerId } = await store.accounts.addAccount({
      ...{ email: 'ann@example.org', passwordHash: 'x', isAdmin: false },
    })
    for (let n = 0; n < HOOKS; n += 1)
      await store.webhooks.addWebhook({
        ...{ accountId: ownerId, host: 'hook.example', sealed: Buffer.from('sealed'), format: 'standard' },
        ...{ events: ['push.opened'], withName: false },
      })
    const push = await storePush(
      { store, clock: opened.clock },
      { ownerId, expireAfterViews: 9 },
      { labels: LABELS },
    )
    for (let n = 0; n < VIEWS; n += 1) await view({ store }, push)
    opened.clock.advance(SECOND)
    const takeAll = async () => {
      const asked = Array.from({ length: 2 * HOOKS * VIEWS }, (_, n) =>
        (opened.nodes[n % 2] ?? store).outbox.takeDue([]),
      )
      return (await Promise.all(asked)).flatMap((message) => (message === null ? [] : [message.id]))
    }
    const taken = [...(await takeAll()), ...(await takeAll())]
    expect(taken).toHaveLength(HOOKS * VIEWS)
    expect(new Set(taken).size).toBe(HOOKS * VIEWS)
    opened.clock.advance(MINUTE)
    const again = [...(await takeAll()), ...(await takeAll())]
    expect(again.toSorted()).toEqual(taken.toSorted())
  }, 120_000)
})
