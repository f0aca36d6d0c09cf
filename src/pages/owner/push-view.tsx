// The owner's page of a push: its state first, its link, its log, then the forms that change it.

import type { AuditEntry } from '../../domain/audit.ts'
import { isEnding, isUsedUp } from '../../domain/listing.ts'
import { isEndedByTries, isExpired, isLocked, type Push, viewsRemaining } from '../../domain/push.ts'
import { PAGES, secretHref, secretLink } from '../../http/urls.ts'
import type { PushDetails } from '../../pushes/pushes.ts'
import type { Words } from '../../words/words.ts'
import { ExpireForm } from '../frame/expire-form.tsx'
import type { RefusedForm } from '../frame/form.ts'
import type { Guest, Member } from '../frame/guest.ts'
import { Icon } from '../frame/icons.tsx'
import { Facts } from '../frame/lists.tsx'
import { LocalhostNotice } from '../frame/localhost-notice.tsx'
import { endWordOf, Openings, sayOpenings } from '../frame/openings.tsx'
import {
  ButtonLink,
  CopyButton,
  LinkBox,
  Moment,
  Notice,
  nameForOwner,
  type StateText,
  sayWhen,
} from '../frame/parts.tsx'
import { ButtonForm } from '../frame/post-form.tsx'
import { sealedKey } from '../frame/sealing.tsx'
import { EditForm } from './edit-view.tsx'
import { Log } from './push-log.tsx'
import { Answer, describeArrival, type ReadContent, ReadForm } from './received-view.tsx'

type Props = {
  guest: Member
  owned: PushDetails
  isLive: boolean
  entries: AuditEntry[]
  pageNumber: number
  refused: RefusedForm | null
  /** Whether the page is only the form that edits the push. */
  isEditing: boolean
  /** The content of an answer that is being read. */
  read: ReadContent | null
  now: number
}

export function PushView(props: Props) {
  const { guest, owned, isEditing } = props
  return (
    <>
      <p>
        <a href={guest.href(PAGES.pushes.href())}>{guest.say('pushes_back')}</a>
      </p>
      <h1>
        <bdi>{nameForOwner(owned, guest.words)}</bdi>
      </h1>
      {isEditing ? <EditForm {...props} /> : <WholePush {...props} />}
    </>
  )
}

function WholePush(props: Props) {
  const { guest, owned, isLive, entries, pageNumber } = props
  const { push, note, log, urlToken } = owned
  return (
    <>
      {note !== '' && (
        <p class="note">
          <bdi>{note}</bdi>
        </p>
      )}
      <ResultNotice {...props} />
      {owned.request !== null && <Request guest={guest} urlToken={owned.request} />}
      <State {...props} />
      {props.read !== null && <Answer guest={guest} owned={owned} content={props.read} />}
      {push.lost && owned.request === null && (
        <Notice kind="plain">
          <p>{guest.say('push_lost')}</p>
          <p>
            <ShareAgain guest={guest} urlToken={urlToken} />
          </p>
        </Notice>
      )}
      <Tries {...props} />
      {isLive && owned.request === null && <Link {...props} />}
      {!isLive && !push.lost && owned.request === null && (
        <p class="actions unprinted">
          <ShareAgain guest={guest} urlToken={urlToken} />
        </p>
      )}
      <Log {...{ guest, push, entries, log, pageNumber, urlToken }} isReceived={owned.request !== null} />
      <EditForm {...props} />
      {(isLive || owned.hasGrants) && <ExpireForm {...{ guest, urlToken }} ends={endsOf(owned, isLive)} />}
    </>
  )
}

/** The notice with the result of the last button. */
function ResultNotice({ guest, isLive }: Props) {
  const done = guest.query.get('done')
  const key = done === 'expired' && !isLive ? 'expired_text' : done === 'edited' ? 'edit_done' : null
  return key && <Notice kind="good">{guest.say(key)}</Notice>
}

function endsOf({ request }: PushDetails, isLive: boolean) {
  if (!isLive) return 'ownDownloads'
  return request === null ? 'ownPush' : 'ownAnswer'
}

function State({ guest, owned, isLive, read, now }: Props) {
  const { words } = guest
  const { push, request, readAt, code } = owned
  const isReceived = request !== null
  const seen = { words, now }
  const { tone, icon, text } = isReceived
    ? describeArrival({ push, readAt, ...seen })
    : describeState(push, seen)
  const { say } = words
  const { createdAt, expiresAt, expiredOn, lastViewedAt } = push
  const end = isLive ? expiresAt : (expiredOn ?? expiresAt)
  const sealed = sealedKey(push, isReceived)
  const moment = (at: number) => <Moment at={at} words={words} />
  return (
    <section class={`standing ${tone}`} aria-label={say('pushes_state')}>
      <p class="headline">
        <Icon name={icon} />
        <strong>{text}</strong>
      </p>
      {isReceived && read === null && <ReadForm {...{ guest, owned, isLive }} />}
      {!isReceived && (
        <p>
          <Openings push={push} words={words} now={now} title={text} />
        </p>
      )}
      <Facts
        of={[
          [say('pushes_kind'), say(`kind_${push.kind}`)],
          sealed !== null && [say('sealed_fact'), say(sealed)],
          [say(isLive ? 'fact_expires' : 'fact_ended'), moment(end)],
          lastViewedAt !== 0 && [say('fact_opened'), moment(lastViewedAt)],
          [say(isReceived ? 'audit_arrived' : 'fact_created'), moment(createdAt)],
          push.passphraseRequired && [say('fact_asks'), say('fact_passphrase')],
          code !== null && [say('push_code'), code],
        ]}
      />
    </section>
  )
}

/** Name no request after a restore, which loses its link. */
function Request({ guest: { words, href }, urlToken }: { guest: Guest; urlToken: string }) {
  const text = words.say('received_for')
  return (
    <p class="hint">
      {urlToken === '' ? text : <a href={href(PAGES.request.href({ url_token: urlToken }))}>{text}</a>}
    </p>
  )
}

function Link({ guest, owned }: Props) {
  const { words, href, exchange, say } = guest
  const share = PAGES.created.href({ url_token: owned.urlToken })
  return (
    <>
      {owned.push.keyCheck === null ? (
        <>
          <LinkBox id="link" label={say('created_link')} text={secretLink(owned, exchange.linkBase)}>
            <CopyButton target="link" words={words} look={isLocked(owned.push) ? 'quiet' : 'primary'} />
          </LinkBox>
          {exchange.linkBase === exchange.baseUrl && <LocalhostNotice guest={guest} path={share} />}
        </>
      ) : (
        <Notice kind="low">{say('sealed_lacks_key')}</Notice>
      )}
      <nav class="actions ways-on" aria-label={say('created_link')}>
        <ButtonLink icon="eye" to={href(secretHref(owned))}>
          {say('push_look')}
        </ButtonLink>
        {owned.push.keyCheck === null && (
          <ButtonLink icon="qr-code" to={href(share)}>
            {say('push_share')}
          </ButtonLink>
        )}
        <ShareAgain guest={guest} urlToken={owned.urlToken} />
      </nav>
    </>
  )
}

function ShareAgain({ guest: { words, href }, urlToken }: { guest: Guest; urlToken: string }) {
  return (
    <ButtonLink icon="copy-plus" to={href(`${PAGES.create.href()}?like=${urlToken}`)}>
      {words.say('push_again')}
    </ButtonLink>
  )
}

function describeState(push: Push, { words, now }: { words: Words; now: number }): StateText {
  const { say } = words
  if (isUsedUp(push)) {
    const at = push.lastViewedAt || (push.expiredOn ?? push.expiresAt)
    const text = sayWhen('state_used', at, { words, now })
    return { tone: 'good', icon: 'circle-check', text }
  }
  if (isExpired(push, now)) {
    const icon = push.lost ? 'history' : 'circle-x'
    return { tone: 'gone', icon, text: say(endWordOf(push)) }
  }
  if (isLocked(push)) return { tone: 'bad', icon: 'lock', text: say('state_locked') }
  if (isEnding(push, now)) {
    const key = viewsRemaining(push) === 1 ? 'state_last' : 'state_ending'
    return { tone: 'low', icon: 'hourglass', text: say(key) }
  }
  if (push.views === 0) return { tone: 'waiting', icon: 'clock', text: say('state_waiting') }
  return { tone: 'good', icon: 'eye', text: sayOpenings(push, words) }
}

/** Explains a lock after too many wrong passphrases, and offers to unlock the push. */
function Tries({ guest, owned: { push, urlToken }, isLive }: Props) {
  const { say } = guest
  if (isLive && isLocked(push)) {
    return (
      <Notice kind="bad">
        <p>{say('push_locked')}</p>
        <ButtonForm
          guest={guest}
          action={PAGES.unlock.href({ url_token: urlToken })}
          label={say('unlock_submit')}
          look="primary"
        />
      </Notice>
    )
  }
  if (isEndedByTries(push)) return <Notice kind="bad">{say('push_ended_by_tries')}</Notice>
  return (
    isLive && guest.query.get('done') === 'unlocked' && <Notice kind="good">{say('push_unlocked')}</Notice>
  )
}
