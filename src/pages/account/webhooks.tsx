// The webhooks of an account, and those of the whole server, which administrators manage on a page of the
// same kind.

import { nullIfMissing } from '../../domain/errors.ts'
import { type DeliveryError, WEBHOOK_FORMATS, type WebhookFormat } from '../../domain/outbox.ts'
import { createParseWebhook, MAX_URL_LENGTH } from '../../http/intake/webhook-input.ts'
import { PAGES } from '../../http/urls.ts'
import type { ListedWebhook, Webhooks } from '../../notices/webhooks.ts'
import type { WordKey } from '../../words/words.ts'
import { Input, RefusedFields, readFields, Select, Tick } from '../frame/fields.tsx'
import { type Form, problemsIn, type RefusedForm } from '../frame/form.ts'
import type { Member } from '../frame/guest.ts'
import { Row } from '../frame/lists.tsx'
import type { AnswerGuest } from '../frame/page.tsx'
import { Moment, Notice, ShownOnce, withFlag } from '../frame/parts.tsx'
import { ButtonForm, PostForm, Submit } from '../frame/post-form.tsx'
import { AccountTabs } from './account-tabs.tsx'
import { EventTicks, offered } from './mail.tsx'

export type WebhookPageOptions = { answer: AnswerGuest; webhooks: Webhooks }

/** The owner of the webhooks on a page. */
const SCOPES = {
  account: {
    lead: 'webhooks_lead',
    owner: ({ account }: Member) => account.id,
    paths: { add: PAGES.addWebhook, remove: PAGES.removeWebhook, test: PAGES.testWebhook },
  },
  server: {
    lead: 'webhooks_all_lead',
    owner: () => null,
    paths: { add: PAGES.addAllWebhook, remove: PAGES.removeAllWebhook, test: PAGES.testAllWebhook },
  },
} as const

type Scope = (typeof SCOPES)[keyof typeof SCOPES]

type WebhookPageState = { secret?: string; tested?: ListedWebhook; refused?: RefusedForm | null }

const FORMAT_NAMES: Record<WebhookFormat, string> = {
  standard: 'Standard Webhooks (JSON)',
  ...{ ntfy: 'ntfy', gotify: 'Gotify', slack: 'Slack', teams: 'Microsoft Teams', matrix: 'Matrix' },
  'home-assistant': 'Home Assistant',
}

export function createWebhookPages(
  { answer, webhooks }: WebhookPageOptions,
  kind: keyof typeof SCOPES = 'account',
) {
  const scope: Scope = SCOPES[kind]
  const parse = createParseWebhook(webhooks.listed)

  async function show(guest: Member, { secret, tested, refused = null }: WebhookPageState = {}) {
    const { say } = guest
    const content = (
      <>
        <h1>{say('webhooks_title')}</h1>
        <p class="lead">{say(scope.lead)}</p>
        {kind === 'account' && <AccountTabs guest={guest} current="webhooks" />}
        {secret && (
          <ShownOnce id="secret" label={say('webhook_secret')} text={secret} words={guest.words}>
            {say('webhook_made')}
          </ShownOnce>
        )}
        {tested && <Outcome guest={guest} of={tested} />}
        <WebhookList guest={guest} scope={scope} webhooks={await webhooks.list(scope.owner(guest))} />
        {webhooks.isOn ? (
          <NewWebhook {...{ guest, scope, refused }} hosts={webhooks.listed} />
        ) : (
          <p>{withFlag(say('webhooks_off'), '--webhook-hosts')}</p>
        )}
      </>
    )
    const status = refused === null ? 200 : 422
    const languageSwitch = secret === undefined && tested === undefined
    return answer(content, { guest, title: say('webhooks_title'), status, languageSwitch })
  }

  async function add(guest: Member, form: Form): Promise<Response> {
    const wanted = {
      ...{ url: form.text('url'), format: form.text('format') },
      events: offered(guest.account).filter((type) => form.isTicked(type)),
      with_name: form.isTicked('with_name'),
    }
    try {
      const { secret } = await webhooks.add(scope.owner(guest), parse(wanted))
      return show(guest, { secret })
    } catch (cause) {
      return show(guest, { refused: { form, problems: problemsIn(cause) } })
    }
  }

  async function remove(guest: Member, form: Form): Promise<Response> {
    // Pressing the button twice is harmless.
    await webhooks.remove(scope.owner(guest), Number(form.text('id'))).catch(nullIfMissing)
    return show(guest)
  }

  async function test(guest: Member, form: Form): Promise<Response> {
    return show(guest, { tested: await webhooks.test(scope.owner(guest), Number(form.text('id'))) })
  }

  return { show: (guest: Member) => show(guest), add, remove, test }
}

/** Errors with a text of their own. */
const NAMED_ERRORS = [
  ...(['not_allowed', 'address_not_allowed', 'name_not_found', 'unreachable', 'tls_failed'] as const),
  ...(['timed_out', 'bad_answer', 'redirected', 'refused', 'receiver_failed'] as const),
] satisfies DeliveryError[]

function explain(error: DeliveryError): WordKey {
  return `webhook_error_${NAMED_ERRORS.find((named) => named === error) ?? 'other'}`
}

function Outcome({ guest: { words }, of }: { guest: Member; of: ListedWebhook }) {
  if (of.lastError === null) return <Notice kind="good">{words.say('webhook_delivered')}</Notice>
  return (
    <Notice kind="bad">{`${words.say('webhook_not_delivered')} ${words.say(explain(of.lastError))}`}</Notice>
  )
}

type ListProps = { guest: Member; scope: Scope; webhooks: ListedWebhook[] }

function WebhookList({ guest, scope, webhooks }: ListProps) {
  const { words, say } = guest
  if (webhooks.length === 0) return <p>{say('webhooks_none')}</p>
  return (
    <ul class="rows">
      {webhooks.map(({ id, host, format, events, lastDelivery, lastError, waiting, failed }) => (
        <Row
          title={host}
          beside={FORMAT_NAMES[format]}
          action={
            <div class="links">
              <ButtonForm
                {...{ guest, action: scope.paths.test.href(), hidden: { id } }}
                label={say('webhook_test')}
                about={host}
              />
              <ButtonForm
                {...{ guest, action: scope.paths.remove.href(), hidden: { id } }}
                look="danger"
                label={say('webhook_delete')}
                about={host}
              />
            </div>
          }
        >
          <p class="hint">
            {offered(guest.account)
              .filter((type) => events.includes(type))
              .map((type) => say(`event_wish_${type}`))
              .join(' · ')}
          </p>
          <p class="hint">
            {lastDelivery === null
              ? say('webhook_never')
              : [say('webhook_last'), ' ', <Moment at={lastDelivery} words={words} />]}
          </p>
          {lastError !== null && <p class="problem">{say(explain(lastError))}</p>}
          {waiting > 0 && <p class="hint">{say('webhook_waiting', { n: waiting })}</p>}
          {failed > 0 && <p class="hint">{say('webhook_failed', { n: failed })}</p>}
        </Row>
      ))}
    </ul>
  )
}

type NewProps = {
  guest: Member
  scope: Scope
  hosts: readonly string[]
  refused: RefusedForm | null
}

function NewWebhook({ guest, scope, hosts, refused }: NewProps) {
  const { words, say } = guest
  const { texts, field, ticked } = readFields(refused, words)
  return (
    <section aria-labelledby="new-title">
      <h2 id="new-title">{say('webhook_new')}</h2>
      <PostForm guest={guest} action={scope.paths.add.href()} look="narrow" isOnce>
        <RefusedFields problems={texts} words={words} />
        <Input
          {...field('url')}
          label={say('webhook_url')}
          hint={say('webhook_url_hint', { hosts: hosts.join(', ') })}
          attributes={{ maxlength: MAX_URL_LENGTH, autocomplete: 'off', dir: 'ltr', inputmode: 'url' }}
        />
        <Select
          {...field('format')}
          label={say('webhook_format')}
          options={WEBHOOK_FORMATS.map((format) => [format, FORMAT_NAMES[format]])}
        />
        <fieldset id="events">
          <legend>{say('webhook_events')}</legend>
          <EventTicks guest={guest} isTicked={(type) => refused?.form.isTicked(type) ?? true} />
          <p class="problem">{texts.events}</p>
        </fieldset>
        {scope === SCOPES.account && (
          <Tick {...ticked('with_name', false)} label={say('webhook_with_name')} />
        )}
        <Submit>{say('webhook_create')}</Submit>
      </PostForm>
    </section>
  )
}
