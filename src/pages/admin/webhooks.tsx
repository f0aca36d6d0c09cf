// The webhooks on the administration page: what waits for those of all accounts, and the way to those of the administrators.

import { PAGES } from '../../http/urls.ts'
import type { Webhooks } from '../../notices/webhooks.ts'
import type { Member } from '../frame/guest.ts'
import { Card, withFlag } from '../frame/parts.tsx'

export async function WebhookCard({ guest, webhooks }: { guest: Member; webhooks: Webhooks }) {
  const { say } = guest.words
  const { waiting, failed } = await webhooks.countMessages()
  return (
    <Card id="webhooks" title={say('webhooks_title')}>
      {waiting > 0 && <p>{say('webhook_waiting', { n: waiting })}</p>}
      {failed > 0 && <p>{say('webhook_failed', { n: failed })}</p>}
      {webhooks.isOn ? (
        <a class="button quiet" href={guest.href(PAGES.allWebhooks.href())}>
          {say('webhooks_manage')}
        </a>
      ) : (
        <p>{withFlag(say('webhooks_off'), '--webhook-hosts')}</p>
      )}
    </Card>
  )
}
