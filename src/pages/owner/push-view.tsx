// The page of a push for its owner: its state first, its link, its log, then what can be changed about it.

import type { AuditEntry } from '../../domain/audit.ts'
import { isEnding } from '../../domain/listing.ts'
import { isEndedByTries, isExpired, isLocked, type Push, viewsRemaining } from '../../domain/push.ts'
import { PAGES, secretHref, secretLink } from '../../http/urls.ts'
import type { Labelled } from '../../pushes/owner-lists.ts'
import type { Owned } from '../../pushes/pushes.ts'
import type { WordKey, Words } from '../../words/words.ts'
import type { Guest, Member } from '../frame/guest.ts'
import type { Children } from '../frame/html.ts'
import type { IconName } from '../frame/icon-files.ts'
import { Icon } from '../frame/icons.tsx'
import { LocalhostNotice } from '../frame/localhost-notice.tsx'
import type { AnswerGuest } from '../frame/page.tsx'
import { CopyButton, KIND_WORDS, Moment, Notice, nameForOwner, Relative, type Tone } from '../frame/parts.tsx'
import { ExpireForm } from '../receive/expire-form.tsx'
import type { RefusedEdit } from './edit-view.tsx'
import { EditForm } from './edit-view.tsx'
import { Log } from './push-log.tsx'
import { Tries } from './tries.tsx'

export type ShownPush = {
  owned: Owned
  isLive: boolean
  entries: AuditEntry[]
  pageNumber: number
  /** Of the form that expires the push. */
  nonce: string
  refused: RefusedEdit | null
  now: number
}

type Props = ShownPush & { guest: Member }

export function createPushView(answer: AnswerGuest) {
  return (guest: Member, shown: ShownPush): Response => {
    const { owned, isLive, entries, pageNumber, nonce, refused } = shown
    const { push, note, log, urlToken } = owned
    const title = nameForOwner(owned, guest.words)
    const props = { ...shown, guest }
    const content = (
      <>
        <p>
          <a href={guest.href(PAGES.pushes.href())}>{guest.words.say('pushes_back')}</a>
        </p>
        <h1>
          <bdi>{title}</bdi>
        </h1>
        {note === '' ? null : (
          <p class="note">
            <bdi>{note}</bdi>
          </p>
        )}
        <Told guest={guest} isLive={isLive} />
        <State {...props} />
        <Lost guest={guest} listed={owned} />
        <Tries guest={guest} listed={owned} isLive={isLive} />
        {isLive ? <Link {...props} /> : null}
        <Log
          guest={guest}
          push={push}
          entries={entries}
          log={log}
          pageNumber={pageNumber}
          urlToken={urlToken}
        />
        <EditForm guest={guest} owned={owned} isLive={isLive} refused={refused} now={shown.now} />
        {isLive || owned.hasGrants ? (
          <ExpireForm
            guest={guest}
            urlToken={urlToken}
            nonce={nonce}
            isOwner
            ends={isLive ? 'push' : 'grants'}
          />
        ) : null}
      </>
    )
    const status = refused === null ? 200 : 422
    return answer(content, { guest, title, status, scripts: ['common'], width: 'wide' })
  }
}

/** The notice about what the last press of a button did. */
function Told({ guest, isLive }: { guest: Guest; isLive: boolean }) {
  const done = guest.query.get('done')
  const key = done === 'expired' && !isLive ? 'expired_text' : done === 'edited' ? 'edit_done' : null
  return key === null ? null : (
    <Notice kind="good">
      <p>{guest.words.say(key)}</p>
    </Notice>
  )
}

function State({ guest: { words }, owned: { push }, isLive, now }: Props) {
  const { tone, icon, text } = describeState(push, { words, now })
  const { createdAt, expiresAt, expiredOn, lastViewedAt, expireAfterViews, views } = push
  const end = isLive ? expiresAt : (expiredOn ?? expiresAt)
  return (
    <section class={`standing ${tone}`} aria-label={words.say('pushes_state')}>
      <p class="headline">
        <Icon name={icon} />
        <strong>{text}</strong>
      </p>
      <p class="used">
        {isLive ? <progress max={expireAfterViews} value={views} aria-labelledby="used" /> : null}
        <span id="used">{words.say('row_views', { n: views, of: expireAfterViews })}</span>
      </p>
      <dl class="facts">
        <Fact name="pushes_kind" words={words}>
          {words.say(KIND_WORDS[push.kind])}
        </Fact>
        <Fact name={isLive ? 'fact_expires' : 'fact_ended'} words={words}>
          <Relative at={end} words={words} now={now} />{' '}
          <span class="exact-time">
            (<Moment at={end} words={words} />)
          </span>
        </Fact>
        {lastViewedAt === 0 ? null : (
          <Fact name="fact_opened" words={words}>
            <Relative at={lastViewedAt} words={words} now={now} /> (<Moment at={lastViewedAt} words={words} />
            )
          </Fact>
        )}
        <Fact name="fact_created" words={words}>
          <Moment at={createdAt} words={words} />
        </Fact>
        <Asked push={push} words={words} />
      </dl>
    </section>
  )
}

function Asked({ push, words }: { push: Push; words: Words }) {
  return push.passphraseRequired ? (
    <Fact name="fact_asks" words={words}>
      {words.say('fact_passphrase')}
    </Fact>
  ) : null
}

type FactProps = { name: WordKey; words: Words; children: Children }

function Fact({ name, words, children }: FactProps) {
  return (
    <>
      <dt>{words.say(name)}</dt>
      <dd>{children}</dd>
    </>
  )
}

function Link({ guest, owned }: Props) {
  const { words, href, exchange } = guest
  const token = { url_token: owned.urlToken }
  return (
    <>
      <LocalhostNotice guest={guest} path={PAGES.created.href(token)} />
      <section aria-label={words.say('created_link')} class="link">
        <pre id="link" dir="ltr">
          <code>{secretLink(owned, exchange.baseUrl)}</code>
        </pre>
        <CopyButton target="link" guest={guest} look="primary" />
      </section>
      <nav class="actions ways-on" aria-label={words.say('created_link')}>
        <Way icon="qr-code" to={href(PAGES.created.href(token))} text={words.say('push_share')} />
        <Way icon="eye" to={href(secretHref(owned))} text={words.say('push_look')} />
        <Way
          icon="copy-plus"
          to={href(`${PAGES.create.href()}?like=${owned.urlToken}`)}
          text={words.say('push_again')}
        />
      </nav>
    </>
  )
}

function Way({ icon, to, text }: { icon: IconName; to: string; text: string }) {
  return (
    <a class="button quiet" href={to}>
      <Icon name={icon} />
      <span>{text}</span>
    </a>
  )
}

/** A restore of the server expired the push: leads to sharing it again. */
function Lost({ guest, listed: { push, urlToken } }: { guest: Member; listed: Labelled }) {
  const { words, href } = guest
  return push.lost ? (
    <Notice kind="plain">
      <p>{words.say('push_lost')}</p>
      <p>
        <a class="button quiet" href={href(`${PAGES.create.href()}?like=${urlToken}`)}>
          <Icon name="copy-plus" />
          <span>{words.say('push_again')}</span>
        </a>
      </p>
    </Notice>
  ) : null
}

/** `isNotable`: says more than the number of views and the time do. */
export type StateText = { tone: Tone; icon: IconName; text: string; isNotable: boolean }

export function describeState(push: Push, { words: { say }, now }: { words: Words; now: number }): StateText {
  if (isExpired(push, now)) {
    const icon = push.lost ? 'history' : 'circle-x'
    return { tone: 'gone', icon, text: say(endOf(push)), isNotable: true }
  }
  if (isLocked(push)) return { tone: 'bad', icon: 'lock', text: say('state_locked'), isNotable: true }
  if (isEnding(push, now)) {
    const key = viewsRemaining(push) === 1 ? 'state_last' : 'state_ending'
    return { tone: 'low', icon: 'hourglass', text: say(key), isNotable: true }
  }
  if (push.views === 0)
    return { tone: 'waiting', icon: 'clock', text: say('state_waiting'), isNotable: false }
  const text = say('state_opened', { n: push.views, of: push.expireAfterViews })
  return { tone: 'good', icon: 'eye', text, isNotable: false }
}

function endOf(push: Push) {
  if (push.lost) return 'state_lost'
  if (push.deleted) return 'state_ended'
  if (isEndedByTries(push)) return 'state_guessed'
  return push.views >= push.expireAfterViews ? 'state_used' : 'state_time'
}
