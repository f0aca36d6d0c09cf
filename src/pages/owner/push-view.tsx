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
import type { Children } from '../frame/html.ts'
import type { IconName } from '../frame/icon-files.ts'
import { Icon } from '../frame/icons.tsx'
import { Facts } from '../frame/lists.tsx'
import { LocalhostNotice } from '../frame/localhost-notice.tsx'
import {
  ButtonLink,
  CopyButton,
  LinkBox,
  Moment,
  Notice,
  nameForOwner,
  Relative,
  sayWhen,
  type Tone,
} from '../frame/parts.tsx'
import { ButtonForm } from '../frame/post-form.tsx'
import { EditForm } from './edit-view.tsx'
import { Log } from './push-log.tsx'

type Props = {
  guest: Member
  owned: PushDetails
  isLive: boolean
  entries: AuditEntry[]
  pageNumber: number
  refused: RefusedForm | null
  now: number
}

export function PushView(props: Props) {
  const { guest, owned, isLive, entries, pageNumber, refused, now } = props
  const { push, note, log, urlToken } = owned
  return (
    <>
      <p>
        <a href={guest.href(PAGES.pushes.href())}>{guest.say('pushes_back')}</a>
      </p>
      <h1>
        <bdi>{nameForOwner(owned, guest.words)}</bdi>
      </h1>
      {note !== '' && (
        <p class="note">
          <bdi>{note}</bdi>
        </p>
      )}
      <ResultNotice {...props} />
      <State {...props} />
      {push.lost && (
        <Notice kind="plain">
          <p>{guest.say('push_lost')}</p>
          <p>
            <ShareAgain guest={guest} urlToken={urlToken} />
          </p>
        </Notice>
      )}
      <Tries {...props} />
      {isLive && <Link {...props} />}
      {!isLive && !push.lost && (
        <p class="actions unprinted">
          <ShareAgain guest={guest} urlToken={urlToken} />
        </p>
      )}
      <Log {...{ guest, push, entries, log, pageNumber, urlToken }} />
      <EditForm guest={guest} owned={owned} isLive={isLive} refused={refused} now={now} />
      {(isLive || owned.hasGrants) && (
        <ExpireForm {...{ guest, urlToken }} ends={isLive ? 'ownPush' : 'ownDownloads'} />
      )}
    </>
  )
}

/** The notice with the result of the last button. */
function ResultNotice({ guest, isLive }: Props) {
  const done = guest.query.get('done')
  const key = done === 'expired' && !isLive ? 'expired_text' : done === 'edited' ? 'edit_done' : null
  return key && <Notice kind="good">{guest.say(key)}</Notice>
}

function State({ guest, owned: { push, request }, isLive, now }: Props) {
  const { words } = guest
  const { tone, icon, text } = describeState(push, { words, now })
  const { say } = words
  const { createdAt, expiresAt, expiredOn, lastViewedAt, expireAfterViews, views } = push
  const end = isLive ? expiresAt : (expiredOn ?? expiresAt)
  const relative = (at: number) => <Relative at={at} words={words} now={now} />
  const moment = (at: number) => <Moment at={at} words={words} />
  return (
    <section class={`standing ${tone}`} aria-label={say('pushes_state')}>
      <p class="headline">
        <Icon name={icon} />
        <strong>{text}</strong>
      </p>
      {/* Only the owner has the link of a received push, and owner views do not count. */}
      {(request === null || views > 0) && (
        <p class="used">
          {isLive && <progress max={expireAfterViews} value={views} aria-labelledby="used" />}
          <span id="used">{say('row_views', { opened: views, n: expireAfterViews })}</span>
        </p>
      )}
      <Facts
        of={[
          [say('pushes_kind'), say(`kind_${push.kind}`)],
          [
            say(isLive ? 'fact_expires' : 'fact_ended'),
            [relative(end), ' ', <span class="exact-time">({moment(end)})</span>],
          ],
          lastViewedAt !== 0 && [
            say('fact_opened'),
            [relative(lastViewedAt), ' (', moment(lastViewedAt), ')'],
          ],
          [say('fact_created'), moment(createdAt)],
          push.passphraseRequired && [say('fact_asks'), say('fact_passphrase')],
          request !== null && [say('received'), <Request guest={guest} urlToken={request} />],
        ]}
      />
    </section>
  )
}

/** A restore loses the link of the request. */
function Request({ guest: { words, href }, urlToken }: { guest: Guest; urlToken: string }) {
  if (urlToken === '') return words.say('received_for')
  return <a href={href(PAGES.request.href({ url_token: urlToken }))}>{words.say('received_for')}</a>
}

function Link({ guest, owned }: Props) {
  const { words, href, exchange, say } = guest
  const share = PAGES.created.href({ url_token: owned.urlToken })
  const isReceived = owned.request !== null
  return (
    <>
      {!isReceived && (
        <>
          <LocalhostNotice guest={guest} path={share} />
          <LinkBox id="link" label={say('created_link')} text={secretLink(owned, exchange.baseUrl)}>
            <CopyButton target="link" words={words} look={isLocked(owned.push) ? 'quiet' : 'primary'} />
          </LinkBox>
        </>
      )}
      <nav class="actions ways-on" aria-label={say('created_link')}>
        <ButtonLink icon="eye" to={href(secretHref(owned))} look={isReceived ? 'primary' : 'quiet'}>
          {say(isReceived ? 'receive_submit' : 'push_look')}
        </ButtonLink>
        <ButtonLink icon="qr-code" to={href(share)}>
          {say('push_share')}
        </ButtonLink>
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

export type StateText = { tone: Tone; icon: IconName; text: Children }

export function describeState(push: Push, { words, now }: { words: Words; now: number }): StateText {
  const { say } = words
  if (isUsedUp(push)) {
    const at = push.lastViewedAt || (push.expiredOn ?? push.expiresAt)
    const text = sayWhen('state_used', at, { words, now })
    return { tone: 'good', icon: 'circle-check', text }
  }
  if (isExpired(push, now)) {
    const icon = push.lost ? 'history' : 'circle-x'
    return { tone: 'gone', icon, text: say(endOf(push)) }
  }
  if (isLocked(push)) return { tone: 'bad', icon: 'lock', text: say('state_locked') }
  if (isEnding(push, now)) {
    const key = viewsRemaining(push) === 1 ? 'state_last' : 'state_ending'
    return { tone: 'low', icon: 'hourglass', text: say(key) }
  }
  if (push.views === 0) return { tone: 'waiting', icon: 'clock', text: say('state_waiting') }
  return { tone: 'good', icon: 'eye', text: say('state_opened') }
}

function endOf(push: Push) {
  if (push.lost) return 'state_lost'
  if (push.deleted) return 'state_ended'
  if (isEndedByTries(push)) return 'state_guessed'
  return 'state_time'
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
