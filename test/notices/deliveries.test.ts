// The job that delivers what waits: whom a receiver that hangs keeps waiting, and whom not.

import { expect, test } from 'bun:test'
import { MOST_WEBHOOKS } from '../../src/domain/outbox.ts'
import { type Channel, createDeliveries } from '../../src/notices/deliveries.ts'
import { openTestStore, storePush, view } from '../support/store.ts'
import { waitUntil } from '../support/waiting.ts'

const LABELS = { urlToken: Buffer.from('token'), name: null, note: null }

type Opened = Awaited<ReturnType<typeof openTestStore>>

/** A push of a new account that tells so many webhooks of each view. */
async function storeTold(opened: Opened, email: string, count: number) {
  const { webhooks, accounts } = opened.store
  const { id } = await accounts.addAccount({ email, passwordHash: 'x', isAdmin: false })
  const hook = { accountId: id, host: 'hook.example', sealed: Buffer.from('sealed'), withName: false }
  for (let n = 0; n < count; n += 1)
    await webhooks.addWebhook({ ...hook, format: 'standard', events: ['push.opened'] })
  return { id, push: await storePush(opened, { ownerId: id }, { labels: LABELS }) }
}

function startDeliveries({ store: { outbox, damage }, clock }: Opened, channels: Channel[]) {
  const job = createDeliveries({ outbox, now: clock.now, channels, damage })
  job.start({ did: () => undefined, failed: () => undefined })
  return job
}

test('an account of which all webhooks hang keeps no webhook of another one waiting', async () => {
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

test('more webhooks that hang than are tried at once keep no mail waiting', async () => {
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
