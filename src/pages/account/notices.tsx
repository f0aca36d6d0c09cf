// The notices of an account, by mail and by webhooks; and the webhooks of the whole server, which
// administrators manage on a page of the same kind.

import { nullIfMissing } from '../../domain/errors.ts'
import { isMailAddress } from '../../domain/mail-address.ts'
import { createParseWebhook } from '../../http/intake/webhook-input.ts'
import { PAGES } from '../../http/urls.ts'
import type { ListedWebhook, Webhooks } from '../../notices/webhooks.ts'
import { type Form, problemsIn, type RefusedForm } from '../frame/form.ts'
import { leadTo, type Member } from '../frame/guest.ts'
import { Row, Table } from '../frame/lists.tsx'
import type { AnswerGuest } from '../frame/page.tsx'
import { Card, Moment, Notice, ShownOnce, withFlag } from '../frame/parts.tsx'
import { ButtonForm, PostForm, Submit } from '../frame/post-form.tsx'
import { AccountTabs } from './account-tabs.tsx'
import { explainDelivery, MailOutcome, type MailPageOptions, Messages, offered, TestButton } from './mail.tsx'
import { FORMAT_NAMES, NewWebhook } from './new-webhook.tsx'

export type NoticePageOptions = { answer: AnswerGuest; webhooks: Webhooks } & MailPageOptions

/** The owner of the webhooks on a page. */
const SCOPES = {
  account: {
    title: 'notices_title',
    lead: 'notices_lead',
    page: PAGES.notices,
    owner: ({ account }: Member) => account.id,
    paths: {
      ...{ add: PAGES.addWebhook, remove: PAGES.removeWebhook },
      ...{ test: PAGES.testWebhook, keep: PAGES.keepNotices },
    },
  },
  server: {
    title: 'webhooks_title',
    lead: 'webhooks_all_lead',
    page: PAGES.allWebhooks,
    owner: () => null,
    paths: {
      ...{ add: PAGES.addAllWebhook, remove: PAGES.removeAllWebhook },
      ...{ test: PAGES.testAllWebhook, keep: PAGES.keepAllNotices },
    },
  },
} as const

type Scope = (typeof SCOPES)[keyof typeof SCOPES]

type NoticePageState = { secret?: string; tested?: ListedWebhook; refused?: RefusedForm | null }

export function createNoticePages(options: NoticePageOptions, kind: keyof typeof SCOPES = 'account') {
  const { answer, webhooks, mail, preferences, countMessages } = options
  const scope: Scope = SCOPES[kind]
  const parse = createParseWebhook(webhooks.listed)
  /** Whether the page offers mail to this account. */
  const mails = ({ account }: Member) =>
    mail !== null && scope === SCOPES.account && isMailAddress(account.email)

  async function show(guest: Member, { secret, tested, refused = null }: NoticePageState = {}) {
    const { say, account } = guest
    const listed = await webhooks.list(scope.owner(guest))
    const wishes = mails(guest) ? (await preferences.findMailWishes(account)).events : null
    const title = say(scope.title)
    const content = (
      <>
        <h1>{title}</h1>
        <p class="lead">{say(scope.lead)}</p>
        {scope === SCOPES.account && <AccountTabs guest={guest} current="notices" />}
        {secret && (
          <ShownOnce id="secret" label={say('webhook_secret')} text={secret} words={guest.words}>
            {say('webhook_made')}
          </ShownOnce>
        )}
        {tested && <Outcome guest={guest} of={tested} />}
        <MailOutcome guest={guest} />
        {guest.query.get('mail') === 'saved' && <Notice kind="good">{say('mail_wishes_saved')}</Notice>}
        {(wishes !== null || listed.length > 0) && <Wishes {...{ guest, scope, wishes }} webhooks={listed} />}
        {scope === SCOPES.account && (
          <Card id="mail" title={say('mail_title')}>
            {mail === null ? (
              <p>{withFlag(say('mail_none'), '--smtp-url')}</p>
            ) : wishes === null ? (
              <p>{say('mail_unsendable', { email: account.email })}</p>
            ) : (
              <>
                <p class="hint">{say('mail_wishes_hint')}</p>
                <Messages guest={guest} of={[await countMessages(account.id)]} />
                <TestButton guest={guest} />
              </>
            )}
          </Card>
        )}
        <Card id="webhooks" title={say('webhooks_title')}>
          {listed.length > 0 && <WebhookList guest={guest} scope={scope} webhooks={listed} />}
          {listed.length === 0 && webhooks.isOn && <p>{say('webhooks_none')}</p>}
          {webhooks.isOn ? (
            <NewWebhook
              {...{ guest, refused }}
              action={scope.paths.add.href()}
              takesNames={scope === SCOPES.account}
              hosts={webhooks.listed}
            />
          ) : (
            <p>{withFlag(say('webhooks_off'), '--webhook-hosts')}</p>
          )}
        </Card>
      </>
    )
    const status = refused === null ? 200 : 422
    const languageSwitch = secret === undefined && tested === undefined
    return answer(content, { guest, title, status, languageSwitch })
  }

  /** Saves the table: the mails of the account, and the events of each webhook that the page showed. */
  async function keep(guest: Member, form: Form): Promise<Response> {
    const { account, words } = guest
    const chosen = (prefix: string) => offered(account).filter((type) => form.isTicked(`${prefix}${type}`))
    if (mails(guest))
      await preferences.keepMailWishes(account, { events: chosen(''), language: words.language })
    for (const [name, id] of form.fields)
      if (name === 'webhook') await webhooks.change(scope.owner(guest), Number(id), chosen(`${id}/`))
    return leadTo(guest, `${scope.page.href()}?mail=saved`)
  }

  async function testMail(guest: Member): Promise<Response> {
    const { account, viewer, words } = guest
    const { visit } = viewer
    const outcome = mail === null ? 'not_configured' : await mail.sendTest({ account, visit }, words.language)
    return leadTo(guest, `${scope.page.href()}?mail=${outcome ?? 'sent'}`)
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

  return { show: (guest: Member) => show(guest), keep, testMail, add, remove, test }
}

type WishesProps = {
  guest: Member
  scope: Scope
  /** The events that are mailed; null without mail. */
  wishes: readonly string[] | null
  webhooks: readonly ListedWebhook[]
}

/** A row for each event, a column for mail and each webhook. */
function Wishes({ guest, scope, wishes, webhooks }: WishesProps) {
  const { say, account } = guest
  const columns = [
    ...(wishes === null ? [] : [{ head: say('mail_title'), prefix: '', events: wishes }]),
    ...webhooks.map(({ id, host, events }) => ({ head: host, prefix: `${id}/`, events })),
  ]
  return (
    <PostForm guest={guest} action={scope.paths.keep.href()}>
      {webhooks.map(({ id }) => (
        <input type="hidden" name="webhook" value={id} />
      ))}
      <Table
        look="wishes"
        heads={[say('notices_when'), ...columns.map(({ head }) => head)]}
        rows={offered(account).map((type) => [
          say(`event_wish_${type}`),
          ...columns.map(({ head, prefix, events }) => (
            <label class="wish">
              <input
                type="checkbox"
                name={`${prefix}${type}`}
                value="true"
                checked={events.includes(type)}
                aria-label={say('labelled', { label: head, text: say(`event_wish_${type}`) })}
              />
            </label>
          )),
        ])}
      />
      <p class="hint">{say('notices_defaults')}</p>
      <Submit>{say('mail_wishes_save')}</Submit>
    </PostForm>
  )
}

function Outcome({ guest: { words }, of }: { guest: Member; of: ListedWebhook }) {
  if (of.lastError === null) return <Notice kind="good">{words.say('webhook_delivered')}</Notice>
  return (
    <Notice kind="bad">{`${words.say('webhook_not_delivered')} ${explainDelivery(of.lastError, words)}`}</Notice>
  )
}

function WebhookList({ guest, scope, webhooks }: { guest: Member; scope: Scope; webhooks: ListedWebhook[] }) {
  const { words, say } = guest
  return (
    <ul class="rows">
      {webhooks.map(({ id, host, format, lastDelivery, lastError, lastFailure, waiting, failed }) => (
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
            {lastDelivery === null
              ? say('webhook_never')
              : [say('webhook_last'), ' ', <Moment at={lastDelivery} words={words} />]}
          </p>
          {lastError !== null && (
            <p class="problem">
              {explainDelivery(lastError, words)}{' '}
              {lastFailure !== null && (
                <span class="hint">
                  <Moment at={lastFailure} words={words} />
                </span>
              )}
            </p>
          )}
          {waiting > 0 && <p class="hint">{say('webhook_waiting', { n: waiting })}</p>}
          {failed > 0 && <p class="hint">{say('webhook_failed', { n: failed })}</p>}
        </Row>
      ))}
    </ul>
  )
}
