// Outgoing messages on the administration page: mail and webhooks of all accounts that wait or failed.

import type { OutboxKind } from '../../domain/outbox.ts'
import { PAGES } from '../../http/urls.ts'
import type { Webhooks } from '../../notices/webhooks.ts'
import { type MailPageOptions, type MessageCounts, Messages, TestButton } from '../account/mail.tsx'
import type { Member } from '../frame/guest.ts'
import { Facts } from '../frame/lists.tsx'
import { Card, withFlag } from '../frame/parts.tsx'

export type AllCounts = Partial<Record<OutboxKind, MessageCounts>>
type MailCardProps = { guest: Member; counts: AllCounts } & Pick<MailPageOptions, 'mail'>

export function MailCard({ guest, mail, counts: { webhook: _, ...mails } }: MailCardProps) {
  const { say } = guest
  return (
    <Card id="mail" title={say('mail_title')}>
      {mail === null ? (
        <p>{withFlag(say('mail_none'), '--smtp-url')}</p>
      ) : (
        <>
          <Facts of={[[say('mail_server'), <code dir="ltr">{mail.mailer.name}</code>]]} />
          <Messages guest={guest} of={Object.values(mails)} />
          <TestButton guest={guest} />
        </>
      )}
    </Card>
  )
}

type WebhookCardProps = { guest: Member; counts: AllCounts; webhooks: Webhooks }

/** Links to the page of the server's own webhooks. */
export function WebhookCard({ guest, counts, webhooks }: WebhookCardProps) {
  const { say } = guest
  return (
    <Card id="webhooks" title={say('webhooks_title')}>
      <Messages guest={guest} of={[counts.webhook]} />
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
