// The answers about events and webhooks; answer-tables.ts has all others.

import { EVENT_TYPES } from '../domain/events.ts'
import { type DeliveryError, EXPLAINED, WEBHOOK_FORMATS } from '../domain/outbox.ts'
import { type Static, Type } from '../http/intake/members.ts'
import { closed, count, flag, kind, nullable, text, time } from './schemas.ts'

const event = closed(
  {
    id: count('Numbers the events of the account.'),
    type: Type.String({ enum: [...EVENT_TYPES], description: 'What happened. More types may come.' }),
    timestamp: time('When it happened.'),
    data: Type.Object(
      {
        push: Type.Optional(text('A random id of the push: the same in all of its events, and no link.')),
        kind: Type.Optional(kind),
        views_remaining: Type.Optional(count('Retrievals left.')),
        expires_at: Type.Optional(time('When it expires at the latest.')),
        expired: Type.Optional(flag('Whether it has expired.')),
      },
      { description: 'Never a name, note, link or payload.' },
    ),
  },
  'An event.',
)
const webhook = {
  id: count('Addresses the webhook in paths.'),
  host: text('Where it sends to; the rest of the URL is told to nobody.'),
  format: Type.String({ enum: [...WEBHOOK_FORMATS] }),
  events: Type.Array(Type.String({ enum: [...EVENT_TYPES] })),
  with_name: flag('Whether the name of a push is sent as well.'),
  created_at: time('When it was made.'),
  last_delivery: nullable(time('When a message last arrived.')),
  last_error: Type.Unsafe<DeliveryError | null>({
    type: 'string',
    nullable: true,
    enum: [...Object.keys(EXPLAINED), null],
    description: 'Why the last try failed.',
  }),
}
const listedWebhook = closed(webhook, 'A webhook of yours.')

export const NOTICE_ANSWERS = {
  EventPage: closed(
    {
      events: Type.Array(event),
      next: count('The `after` of the next request.'),
    },
    'Oldest first.',
  ),
  Webhook: listedWebhook,
  WebhookList: Type.Array(
    Type.Unsafe<Static<typeof listedWebhook>>({ $ref: '#/components/schemas/Webhook' }),
  ),
  CreatedWebhook: closed(
    { ...webhook, secret: text('`whsec_` and base64: signs the messages. Shown this once.') },
    'A new webhook.',
  ),
}
