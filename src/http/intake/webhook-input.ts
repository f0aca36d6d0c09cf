// Reads a new webhook. The API and the form of the pages share this.

import { invalidFields } from '../../domain/errors.ts'
import { EVENT_TYPES } from '../../domain/events.ts'
import { type NewWebhook, WEBHOOK_FORMATS } from '../../domain/outbox.ts'
import { isListed, WEB_ADDRESS_PATTERN, webPlaceOf } from '../../text/web-address.ts'
import {
  type BodyMember,
  boolean,
  createFields,
  isGiven,
  oneOf,
  refined,
  someOf,
  text,
  type Wire,
} from './members.ts'

export const MAX_URL_LENGTH = 2_000

/** The members of a new webhook, which may send to the `listed` hosts. The reference shows them. */
export function createWebhookTable(listed: readonly string[]) {
  return {
    url: urlAt(listed),
    events: someOf(EVENT_TYPES, { description: 'Left out: all of them.' }),
    format: oneOf(WEBHOOK_FORMATS, { default: 'standard', description: 'Of whom it is read.' }),
    with_name: boolean({ default: false, description: 'Whether the name of a push is sent as well.' }),
  }
}

function urlAt(listed: readonly string[]): BodyMember<string> {
  const description =
    'Where to send to, at a host that the operator lists. Shown to nobody again, but its host.'
  // A URL with a user name is refused.
  const pattern = WEB_ADDRESS_PATTERN.replace('[^', '[^@')
  return refined(text({ maxLength: MAX_URL_LENGTH, pattern, description }), (given, blame) => {
    const place = webPlaceOf(given.trim())
    if (place === null) return blame({ code: 'not_webhook_url' })
    return isListed(place, listed) ? given.trim() : blame({ code: 'host_not_listed' })
  })
}

/** Returns a parser, which throws `invalid` with every field at fault. */
export function createParseWebhook(listed: readonly string[]) {
  const table = createWebhookTable(listed)
  return (wire: Wire): NewWebhook => {
    const fields = createFields(table, wire)
    if (!isGiven(wire.url)) fields.blame('url', { code: 'blank' })
    const webhook = {
      url: fields.read('url') ?? '',
      events: fields.read('events') ?? [...EVENT_TYPES],
      format: fields.read('format') ?? 'standard',
      withName: fields.read('with_name') ?? false,
    }
    if (Object.keys(fields.problems).length > 0) throw invalidFields(fields.problems)
    return webhook
  }
}
