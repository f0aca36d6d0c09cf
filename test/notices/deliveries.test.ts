// The delivery job: which deliveries a hanging receiver delays, and which it does not.

import { expect, test } from 'bun:test'
import { MOST_WEBHOOKS } from '../../src/domain/outbox.ts'
import { HOUR, MINUTE, SECOND } from '../../src/domain/time.ts'
import { type Channel, createDeliveries } from '../../src/notices/deliveries.ts'
import { openTestStore, storePush, view } from '../support/store.ts'
import { waitUntil } from '../support/waiting.ts'

const LABELS = { urlToken: Buffer.from('token'), name: null, note: null }

type Opened = Awaited<ReturnType<typeof openTestStore>>

/** Stores a push of a new account with this many webhooks for each view. */
async function storeTold(opened: Opened, email: string, count: number) {
  const { webhooks, accounts } = opened.store
  const { id } = await accounts.addAccount({ email, passwordHash: 'x', isAdmin: false })
  const hook = { accountId: id, host: 'hook.example', sealed: Buffer.from('sealed'), withName: false }
  for (let n = 0; n < count; n += 1)
    await webhooks.addWebhook({ ...hook, format: 'standard', events: ['push.opened'] })
  return { id, push: await storePush(opened, { ownerId: id }, { labels: LABELS }) }
}

function startDeliveries({ store, clock }: Opened, channels: Channel[]) {
  const { outbox, damage, whenQueued } = store
  const job = createDeliveries({ outbox, damage, whenQueued, lookEvery: MINUTE, now: clock.now, channels })
  job.start({ did: () => undefined, failed: () => undefined })
  return job
}

test('hanging webhooks of one account do not delay those of another', async () => {
  const opened = await openTestStore()
  const ann = await storeTold(opened, 'ann@example.org', MOST_WEBHOOKS)
  const bob = await storeTold(opened, 'bob@example.org', 1)
  const hanging = Promise.withResolvers<null>()
  const told: (number | null)[] = []
  const deliver: Channel['deliver'] = async ({ accountId }) => {
    told.push(accountId)
    return accountId === ann.id ? hanging.promise : null
  }
  await view(opened, ann.push)
  await view(opened, bob.push)
  const job = startDeliveries(opened, [{ kinds: ['webhook'], deliver }])
  await waitUntil(() => told.includes(bob.id))
  expect(told.filter((id) => id === ann.id)).toHaveLength(MOST_WEBHOOKS)
  hanging.resolve(null)
  await job.stop()
  await opened.close()
})

test('more hanging webhooks than concurrent attempts do not delay mail', async () => {
  const opened = await openTestStore()
  const { preferences } = opened.store
  const ann = await storeTold(opened, 'ann@example.org', MOST_WEBHOOKS)
  const bob = await storeTold(opened, 'bob@example.org', MOST_WEBHOOKS)
  const cleo = await storeTold(opened, 'cleo@example.org', MOST_WEBHOOKS)
  for (const { push } of [ann, bob, cleo]) await view(opened, push)
  const hanging = Promise.withResolvers<null>()
  let [hung, mails] = [0, 0]
  const hangs = () => {
    hung += 1
    return hanging.promise
  }
  const takes = async () => {
    mails += 1
    return null
  }
  const job = startDeliveries(opened, [
    { kinds: ['webhook'], deliver: hangs },
    { kinds: ['event_mail'], deliver: takes },
  ])
  await waitUntil(() => hung === 2 * MOST_WEBHOOKS)
  await preferences.keep({ accountId: ann.id, mailEvents: ',push.opened,' })
  await view(opened, ann.push)
  await waitUntil(() => mails === 1)
  expect(hung).toBe(2 * MOST_WEBHOOKS)
  hanging.resolve(null)
  await job.stop()
  await opened.close()
})

test('a delivery starts with the commit that queued it, and an idle server sends no query', async () => {
  const opened = await openTestStore()
  const { push } = await storeTold(opened, 'ann@example.org', 1)
  let looks = 0
  const outbox = {
    ...opened.store.outbox,
    findNextDue: () => {
      looks += 1
      return opened.store.outbox.findNextDue()
    },
  }
  const arrived: number[] = []
  const deliver = async () => {
    arrived.push(performance.now())
    return null
  }
  const job = startDeliveries({ ...opened, store: { ...opened.store, outbox } }, [
    { kinds: ['webhook'], deliver },
  ])
  await Bun.sleep(600)
  expect(looks).toBe(1)
  await view(opened, push)
  const committed = performance.now()
  await waitUntil(() => arrived.length === 1)
  // 3 ms on a quiet machine.
  expect((arrived[0] ?? 0) - committed).toBeLessThan(200)
  await job.stop()
  await opened.close()
})

test('a retry keeps its time while another receiver hangs and has more that is due', async () => {
  const opened = await openTestStore()
  const { preferences } = opened.store
  const { id, push } = await storeTold(opened, 'ann@example.org', 1)
  const hanging = Promise.withResolvers<null>()
  let [hung, tries] = [0, 0]
  const hangs = () => {
    hung += 1
    return hanging.promise
  }
  const failsOnce = async () => {
    tries += 1
    return tries === 1 ? ('unreachable' as const) : null
  }
  const job = startDeliveries(opened, [
    { kinds: ['webhook'], deliver: failsOnce },
    { kinds: ['event_mail'], deliver: hangs },
  ])
  await view(opened, push)
  await waitUntil(async () => (await opened.store.webhooks.listWebhooks(id))[0]?.lastError === 'unreachable')
  await preferences.keep({ accountId: id, mailEvents: ',push.opened,' })
  await Promise.all([view(opened, push), view(opened, push)])
  await waitUntil(() => hung === 1)
  opened.clock.advance(11 * SECOND)
  await waitUntil(() => tries > 1)
  expect(hung).toBe(1)
  hanging.resolve(null)
  await job.stop()
  await opened.close()
})

test('hundreds of messages that were given up do not delay a new one', async () => {
  const opened = await openTestStore()
  const ann = await storeTold(opened, 'ann@example.org', MOST_WEBHOOKS)
  for (let n = 0; n < 12; n += 1)
    await view(opened, await storePush(opened, { ownerId: ann.id }, { labels: LABELS }))
  opened.clock.advance(25 * HOUR)
  const bob = await storeTold(opened, 'bob@example.org', 1)
  await view(opened, bob.push)
  const told: (number | null)[] = []
  const deliver: Channel['deliver'] = async ({ accountId }) => {
    told.push(accountId)
    return null
  }
  const job = startDeliveries(opened, [{ kinds: ['webhook'], deliver }])
  await waitUntil(() => told.length > 0)
  expect(told).toEqual([bob.id])
  await job.stop()
  await opened.close()
})
