// A whole Oncebox that sends events of one push to a webhook: `outbox-child.ts FOLDER TIME RECEIVER`. Prints
// the push id of the events once the view is answered, then waits to be killed. With `drain` in place of a
// time it prints `empty` when the outbox is empty.

import { writeSync } from 'node:fs'
import { createTestClock, startInstance } from './instance.ts'
import { waitUntil } from './waiting.ts'

const [dataDir = '', time = '', host = '', what = 'tell'] = process.argv.slice(2)
const instance = await startInstance({
  ...{ dataDir, clock: createTestClock(Number(time)) },
  flags: { 'webhook-hosts': host, 'accept-clock': 'true' },
})
const ask = async (path: string, init: Parameters<typeof instance.fetch>[1] = {}) =>
  (await instance.fetch(path, init)).json()

if (what === 'drain') {
  const token = (await instance.apiTokens().createApiToken({ email: 'ann@example.org' })).apiToken
  await waitUntil(async () => {
    const [webhook] = await ask('/api/oncebox/webhooks', { token })
    instance.clock.advance(60_000)
    return (
      webhook.last_error === null && webhook.last_delivery !== null && (await instance.countWaiting()) === 0
    )
  })
  writeSync(1, 'empty\n')
} else {
  const token = await instance
    .addAccount('ann@example.org')
    .catch(async () => (await instance.apiTokens().createApiToken({ email: 'ann@example.org' })).apiToken)
  const webhook = { url: `http://${host}/`, events: ['push.opened'] }
  if ((await ask('/api/oncebox/webhooks', { token })).length === 0)
    await ask('/api/oncebox/webhooks', { json: { webhook }, token })
  const { next } = await ask('/api/oncebox/events', { token })
  const push = await ask('/api/v2/pushes', { json: { push: { payload: 'secret' } }, token })
  await ask(`/api/v2/pushes/${push.url_token}`)
  const { events } = await ask(`/api/oncebox/events?after=${next}`, { token })
  writeSync(1, `${events[0].data.push}\n`)
  await new Promise(() => undefined)
}
await instance.close()
