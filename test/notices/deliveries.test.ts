// The job that delivers what waits: whom a receiver that hangs keeps waiting, and whom not.

import { expect, test } from 'bun:test'
import { createDeliveries } from '../../src/notices/deliveries.ts'
import { openTestStore, storePush, view } from '../support/store.ts'
import { waitUntil } from '../support/waiting.ts'

const LABELS = { urlToken: Buffer.from('token'), name: null, note: null }

test('more webhooks that hang than are tried at once keep no mail waiting', async () => {
  const opened = await openTestStore()
  const { outbox, webhooks, accounts, preferences } = opened.store
  const { id } = await accounts.addAccount({ email: 'a@example.org', passwordHash: 'x', isAdmin: false })
  const hook = { accountId: id, host: 'hook.example', sealed: Buffer.from('sealed'), withName: false }
  for (let n = 0; n < 20; n += 1)
    await webhooks.addWebhook({ ...hook, format: 'standard', events: ['push.opened'] })
  const push = await storePush(opened, { ownerId: id }, { labels: LABELS })
  await view(opened, push)
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
  const job = createDeliveries({
    ...{ outbox, now: opened.clock.now },
    channels: [
      { kinds: ['webhook'], deliver: hangs },
      { kinds: ['event_mail'], deliver: takes },
    ],
  })
  job.start({ did: () => undefined, failed: () => undefined })
  await waitUntil(() => hung === 16)
  await preferences.keep({ accountId: id, mailEvents: ',push.opened,' })
  await view(opened, push)
  await waitUntil(() => mails === 1)
  expect(hung).toBe(16)
  hanging.resolve(null)
  await job.stop()
  await opened.close()
})
