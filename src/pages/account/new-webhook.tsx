// The form that adds a webhook, and the names of the formats.

import { WEBHOOK_FORMATS, type WebhookFormat } from '../../domain/outbox.ts'
import { MAX_URL_LENGTH } from '../../http/intake/webhook-input.ts'
import type { Words } from '../../words/words.ts'
import { Input, RefusedFields, readFields, Select, Tick } from '../frame/fields.tsx'
import type { RefusedForm } from '../frame/form.ts'
import type { Member } from '../frame/guest.ts'
import { fillIn } from '../frame/parts.tsx'
import { PostForm, Submit } from '../frame/post-form.tsx'
import { offered } from './mail.tsx'

export const FORMAT_NAMES: Record<WebhookFormat, string> = {
  standard: 'Standard Webhooks (JSON)',
  ...{ ntfy: 'ntfy', gotify: 'Gotify', slack: 'Slack', teams: 'Microsoft Teams', matrix: 'Matrix' },
  'home-assistant': 'Home Assistant',
}

type NewProps = {
  guest: Member
  action: string
  /** Whether its messages may contain the names of pushes. */
  takesNames: boolean
  hosts: readonly string[]
  refused: RefusedForm | null
}

/** The form that adds a webhook: the format, then an example of its address. */
export function NewWebhook({ guest, action, takesNames, hosts, refused }: NewProps) {
  const { words, say } = guest
  const { texts, field, ticked } = readFields(refused, words)
  return (
    <section aria-labelledby="new-title">
      <h2 id="new-title">{say('webhook_new')}</h2>
      <PostForm guest={guest} action={action} look="narrow" isOnce>
        <RefusedFields problems={texts} words={words} />
        <Select
          {...field('format')}
          label={say('webhook_format')}
          options={WEBHOOK_FORMATS.map((format) => [format, FORMAT_NAMES[format]])}
        />
        <Input
          {...field('url')}
          label={say('webhook_url')}
          hint={[<Examples words={words} />, say('webhook_url_hint', { hosts: hosts.join(', ') })]}
          attributes={{ maxlength: MAX_URL_LENGTH, autocomplete: 'off', dir: 'ltr', inputmode: 'url' }}
        />
        <details open={texts.events !== undefined}>
          <summary>{say('webhook_events')}</summary>
          <fieldset id="events">
            <legend class="visually-hidden">{say('webhook_events')}</legend>
            {offered(guest.account).map((type) => (
              <Tick
                id={`event-${type.replace('.', '-')}`}
                name={type}
                label={say(`event_wish_${type}`)}
                isTicked={refused?.form.isTicked(type) ?? true}
              />
            ))}
            <p class="problem">{texts.events}</p>
          </fieldset>
        </details>
        {takesNames && <Tick {...ticked('with_name', false)} label={say('webhook_with_name')} />}
        <Submit>{say('webhook_create')}</Submit>
      </PostForm>
    </section>
  )
}

const EXAMPLES: Record<WebhookFormat, string> = {
  standard: 'https://hooks.example.org/oncebox',
  ntfy: 'https://ntfy.sh/my-secret-topic',
  gotify: 'https://gotify.example.org/message?token=A1b2C3d4',
  slack: 'https://hooks.slack.com/services/T0123/B0123/A1b2C3d4',
  teams: 'https://example.webhook.office.com/webhookb2/A1b2C3d4',
  matrix:
    'https://matrix.example.org/_matrix/client/v3/rooms/!room:example.org/send/m.room.message?access_token=A1b2C3d4',
  'home-assistant': 'https://home.example.org/api/webhook/A1b2C3d4',
}

/** An example address for each format. The style sheet shows only that of the chosen format. */
function Examples({ words: { say } }: { words: Words }) {
  return Object.entries(EXAMPLES).map(([format, url]) => (
    <span class="such-as" data-format={format}>
      {fillIn(say('webhook_example'), 'url', <code dir="ltr">{url}</code>)}
    </span>
  ))
}
