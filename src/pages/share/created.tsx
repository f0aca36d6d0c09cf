// The page of a new push: its link, when it expires, and for its sender whether it was opened. Viewing this
// page counts no view.

import type { AccountPreferences } from '../../accounts/preferences.ts'
import { isUsedUp } from '../../domain/listing.ts'
import type { PushLimits } from '../../domain/new-push.ts'
import { isEndToEnd, isExpired, isOwner, mayExpire, type Push, viewsRemaining } from '../../domain/push.ts'
import type { Now } from '../../domain/time.ts'
import { PAGES, secretHref, secretLink } from '../../http/urls.ts'
import type { LinkedPush } from '../../pushes/owner-lists.ts'
import type { PageSeals } from '../../pushes/page-seals.ts'
import type { PushDetails, Pushes } from '../../pushes/pushes.ts'
import type { Words } from '../../words/words.ts'
import { cookieIn } from '../frame/cookies.ts'
import { ExpireForm } from '../frame/expire-form.tsx'
import { type Guest, leadTo, type Params } from '../frame/guest.ts'
import type { Children } from '../frame/html.ts'
import { Icon } from '../frame/icons.tsx'
import { LocalhostNotice } from '../frame/localhost-notice.tsx'
import { Openings } from '../frame/openings.tsx'
import type { AnswerGuest } from '../frame/page.tsx'
import { ButtonLink, EmblemCard, fillIn, LinkBox, Moment, Notice, sayWhen } from '../frame/parts.tsx'
import { fitsQr, QrCode } from '../frame/qr.tsx'
import type { SealingScripts } from '../frame/sealing.tsx'
import { Receive } from '../receive/receive-views.tsx'
import { Message, Ways } from './handover.tsx'
import { messageFor } from './message.ts'

export type CreatedPageOptions = {
  answer: AnswerGuest
  pushes: Pick<Pushes, 'preview' | 'isAnswer' | 'getOwned' | 'findCode'>
  preferences: Pick<AccountPreferences, 'findTemplate'>
  nonces: PageSeals['nonces']
  senders: PageSeals['senders']
  limits: Pick<PushLimits, 'showSender'>
  sealingScripts: SealingScripts
  now: Now
}

export function createCreatedPage(options: CreatedPageOptions) {
  const { answer, pushes, preferences, nonces, senders, limits, sealingScripts, now } = options

  return async (guest: Guest, { url_token = '' }: Params): Promise<Response> => {
    const addressed = await pushes.preview(url_token, guest.viewer)
    const { push } = addressed
    const { account } = guest.viewer
    const { say, number } = guest.words
    const { exchange } = guest
    const time = now()
    const isOwn = isOwner(push, account)
    if (push.ownerId !== null && (await pushes.isAnswer(url_token, guest.viewer)))
      return leadTo(guest, isOwn ? PAGES.push.href({ url_token }) : secretHref(addressed))
    const isSent = isOwn || isSender(guest, url_token, senders)
    if (isExpired(push, time)) {
      const title = say(isSent && isUsedUp(push) ? 'created_opened_title' : 'gone_title')
      const content = <Over guest={guest} push={push} title={title} isSent={isSent} now={time} />
      return answer(content, { guest, title, width: 'narrow', script: 'handover' })
    }
    const owned = isOwn && account !== null ? await pushes.getOwned(url_token, account) : null
    const title = say('created_title')
    const content = (
      <>
        <p class="emblem good">
          <Icon name="check" />
        </p>
        <h1>{title}</h1>
        <About guest={guest} push={push} owned={owned} />
        {isOwn && guest.query.has('mailed') && <Notice kind="good">{say('created_mailed')}</Notice>}
        {isSent && (
          <Opened guest={guest} push={push} urlToken={url_token} mark={senders.seal(url_token)} now={time} />
        )}
        <WithKey guest={guest} push={push} scripts={sealingScripts}>
          <Live
            guest={guest}
            {...addressed}
            code={isSent && push.codeRequired ? await pushes.findCode(url_token, guest.viewer) : null}
            link={secretLink(addressed, exchange.linkBase)}
            template={await preferences.findTemplate(account)}
            name={owned?.namesRecipient ? owned.name : ''}
            sender={isOwn && push.showsSender && limits.showSender ? (account?.email ?? null) : null}
          />
        </WithKey>
        {mayExpire(push, account) && (
          <ExpireForm
            guest={guest}
            urlToken={url_token}
            nonce={nonces.issue(`expire/${url_token}`)}
            ends={isOwn ? 'ownPush' : 'sentPush'}
          />
        )}
        <Another guest={guest} />
      </>
    )
    const counted = isSent && push.views > 0 ? `(${number(push.views)}) ${title}` : title
    return answer(content, { guest, title: counted, width: 'medium', script: 'handover' })
  }
}

type OverProps = { guest: Guest; push: Push; title: string; isSent: boolean; now: number }

/** Replaces the page once the push has expired. For its sender, a used-up link is a success. */
function Over({ guest, push, title, isSent, now }: OverProps) {
  const { words } = guest
  const isOpened = isSent && isUsedUp(push)
  return (
    <EmblemCard icon={isOpened ? 'check' : 'hourglass'} tone={isOpened ? 'good' : 'gone'} title={title}>
      <p>
        {isOpened ? sayWhen('state_used', push.lastViewedAt, { words, now }) : words.say('created_expired')}
      </p>
      <Another guest={guest} />
    </EmblemCard>
  )
}

/** Shows the kind, and for the owner the name and a link to the page of the push. */
function About({ guest, push, owned }: { guest: Guest; push: Push; owned: PushDetails | null }) {
  const { say } = guest
  return (
    <p class="hint">
      {say(`kind_${push.kind}`)}
      {owned !== null && (
        <>
          {owned.name !== '' && (
            <>
              {' · '}
              {fillIn(owned.namesRecipient ? say('created_for') : '{name}', 'name', <bdi>{owned.name}</bdi>)}
            </>
          )}
          {' · '}
          <a href={guest.href(PAGES.push.href({ url_token: owned.urlToken }))}>{say('created_log')}</a>
        </>
      )}
    </p>
  )
}

function Another({ guest }: { guest: Guest }) {
  return (
    <p class="unprinted">
      <ButtonLink icon="plus" to={guest.href(PAGES.create.href())}>
        {guest.say('created_another')}
      </ButtonLink>
    </p>
  )
}

type WithKeyProps = { guest: Guest; push: Push; scripts: SealingScripts; children: Children }

/** Hides a link whose key only the script knows. The script completes and shows it. */
function WithKey({ guest: { say }, push, scripts, children }: WithKeyProps) {
  if (push.keyCheck === null)
    return (
      <>
        {isEndToEnd(push) && <Notice kind="plain">{say('sealed_for_key')}</Notice>}
        {children}
      </>
    )
  return (
    <>
      <div data-without-key>
        <Notice kind="low">{say('sealed_lacks_key')}</Notice>
      </div>
      <div hidden data-lacks-key data-qr={scripts.qrPicture}>
        <Notice kind="low">{say('sealed_created')}</Notice>
        {children}
      </div>
    </>
  )
}

type LiveProps = LinkedPush & {
  guest: Guest
  /** The code beside the link, for its sender. */
  code: string | null
  link: string
  template: string | null
  name: string
  sender: string | null
}

function Live({ guest, code, push, urlToken, link, template, name, sender }: LiveProps) {
  const { words, say, exchange } = guest
  const message = messageFor({ template, push, name, link, words })
  return (
    <>
      <div class="handover">
        <div>
          <LinkBox id="link" label={say('created_link')} text={link}>
            <Ways guest={guest} message={message} hasPassphrase={push.passphraseRequired} />
          </LinkBox>
          {exchange.linkBase === exchange.baseUrl && <LocalhostNotice guest={guest} path={guest.path} />}
          <p class="lead">{until(push, words)}</p>
          {code !== null && <p>{fillIn(say('created_code'), 'code', <strong>{code}</strong>)}</p>}
          {push.passphraseRequired && <p>{say('created_passphrase')}</p>}
        </div>
        {fitsQr(link) && <QrCode text={link} label={say('created_qr')} />}
      </div>
      <Message guest={guest} message={message} />
      <details class="unprinted">
        <summary>{say('created_preview')}</summary>
        <div class="replica" inert>
          <Receive
            {...{ push, urlToken, sender }}
            guest={asRecipient(guest, link)}
            nonce=""
            notice={undefined}
            scripts={null}
          />
        </div>
        <p>
          <a href={guest.href(secretHref({ push, urlToken }))} data-opens-link>
            {say('created_open')}
          </a>
        </p>
      </details>
    </>
  )
}

/** Returns an anonymous guest who followed the link, for the preview. */
function asRecipient(guest: Guest, link: string): Guest {
  const host = URL.parse(link)?.host ?? guest.exchange.host
  return { ...guest, session: null, exchange: { ...guest.exchange, host } }
}

/** Returns "It can be opened 5 times, until 27 November 2026, 14:05". */
function until(push: Push, words: Words): Children {
  const views = words.say('views', { n: viewsRemaining(push) })
  const text = words.say('created_until', { views })
  return fillIn(text, 'until', <Moment at={push.expiresAt} words={words} />)
}

/**
 * The query parameter for the sender's mark. The polling script sends no cookies, so that polling does not
 * extend a session.
 */
const MARK = 'sender'

/** Whether this browser created the push, and none later. */
function isSender(guest: Guest, urlToken: string, marks: PageSeals['senders']): boolean {
  const mark = guest.query.get(MARK) ?? cookieIn(guest, 'sender')
  return mark !== null && marks.isOf(mark, urlToken)
}

type Props = { guest: Guest; push: Push; urlToken: string; mark: string; now: number }

export function Opened({ guest, push, urlToken, mark, now }: Props) {
  const { words } = guest
  const page = guest.href(PAGES.created.href({ url_token: urlToken }))
  const ask = new URLSearchParams({ [MARK]: mark, locale: words.language })
  return (
    <p class="opened half card">
      <span role="status" id="opened" data-asks-again={`${page.split('?')[0]}?${ask}`}>
        <Openings push={push} words={words} now={now} />
      </span>
      <a href={page} data-without-script>
        {words.say('created_look')}
      </a>
    </p>
  )
}
