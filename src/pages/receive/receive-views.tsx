// What a recipient sees of a secret link before it is opened, and in place of it: gone, locked, deleted.

import { isEndedByTries, type Push, viewsRemaining } from '../../domain/push.ts'
import { PAGES } from '../../http/urls.ts'
import { Contact } from '../frame/brand.tsx'
import { EmblemCard } from '../frame/emblem-card.tsx'
import { RefusedFields } from '../frame/fields.tsx'
import type { Guest } from '../frame/guest.ts'
import type { Children } from '../frame/html.ts'
import { Icon } from '../frame/icons.tsx'
import { Moment, Notice } from '../frame/parts.tsx'
import { ReceiveForm, type ReceiveFormProps } from './receive-form.tsx'

type ReceiveProps = ReceiveFormProps & {
  /** What happened to an earlier press. */
  notice: string | undefined
}

/** Says what the link is, how often it can be opened, and that this page never asks for a password of the recipient. */
export function Receive({ notice, ...form }: ReceiveProps) {
  const { guest, push, isOwner = false, problem } = form
  const { say } = guest.words
  return (
    <EmblemCard icon="lock">
      <h1>{say(isOwner ? 'receive_owner_title' : 'receive_title')}</h1>
      <RefusedFields problems={{ passphrase: problem }} words={guest.words} />
      {isOwner ? <Own {...form} /> : <p class="lead">{lead(guest)}</p>}
      {notice === undefined ? null : (
        <Notice kind="plain">
          <p>{notice}</p>
        </Notice>
      )}
      {isOwner || viewsRemaining(push) !== 1 ? null : (
        <Notice kind="low">
          <p>
            <strong>{say(push.expireAfterViews === 1 ? 'receive_once' : 'receive_last')}</strong>
          </p>
        </Notice>
      )}
      <ReceiveForm {...form} />
      {isOwner ? null : <Assurances guest={guest} push={push} />}
    </EmblemCard>
  )
}

/** The sentence that says what this is, with the host in it to be compared. */
function lead({ words, exchange, brand }: Guest): Children {
  const [before, after] = words.say('receive_lead').split('{host}')
  return (
    <>
      {before}
      <strong>
        <bdi>{exchange.host ?? brand.name}</bdi>
      </strong>
      {after}
    </>
  )
}

function Own({ guest, urlToken }: ReceiveFormProps) {
  const { say } = guest.words
  return (
    <>
      <p class="lead">{say('receive_owner')}</p>
      <p>
        <a href={guest.href(PAGES.push.href({ url_token: urlToken }))}>{say('receive_owner_go')}</a>
      </p>
    </>
  )
}

function Assurances({ guest, push }: { guest: Guest; push: Push }) {
  const { words } = guest
  const [before, after] = words.say('receive_until').split('{until}')
  return (
    <div class="assurances">
      <p class="with-icon">
        <Icon name="shield-check" />
        <span>{words.say(push.passphraseRequired ? 'receive_safe_passphrase' : 'receive_safe')}</span>
      </p>
      <p class="with-icon">
        <Icon name="clock" />
        <span>
          {before}
          <Moment at={push.expiresAt} words={words} />
          {after}
        </span>
      </p>
      <Contact guest={guest} />
    </div>
  )
}

/** A push that never existed, was purged or has expired looks the same, unless wrong passphrases or a restore ended it. */
export function Gone({ guest, push }: { guest: Guest; push: Push | null }) {
  const { say } = guest.words
  if (push?.lost) return <Lost guest={guest} />
  const isGuessed = push !== null && isEndedByTries(push)
  return (
    <EmblemCard icon={isGuessed ? 'triangle-alert' : 'hourglass'} tone="gone">
      <h1>{say('gone_title')}</h1>
      <p>{say(isGuessed ? 'gone_tries' : 'gone_text')}</p>
      <p>
        <strong>{say(isGuessed ? 'gone_tries_not_you' : 'gone_not_you')}</strong>
      </p>
      <p>{say('gone_again')}</p>
      <Contact guest={guest} />
    </EmblemCard>
  )
}

/** Without the warning that somebody else may have opened the link, because a restore ended the push. */
function Lost({ guest }: { guest: Guest }) {
  const { say } = guest.words
  return (
    <EmblemCard icon="history" tone="gone">
      <h1>{say('gone_title')}</h1>
      <p>{say('gone_lost')}</p>
      <p>
        <strong>{say('gone_lost_again')}</strong>
      </p>
      <Contact guest={guest} />
    </EmblemCard>
  )
}

type LockedProps = { guest: Guest; push: Push; urlToken: string; isOwner: boolean }

/** Shown in place of the form after too many wrong passphrases. */
export function Locked({ guest, push, urlToken, isOwner }: LockedProps) {
  const { say } = guest.words
  return (
    <EmblemCard icon="lock" tone="bad">
      <h1>{say('locked_title')}</h1>
      <p>{say(push.ownerId === null ? 'locked_for_good' : isOwner ? 'locked_owner' : 'locked_text')}</p>
      {isOwner ? (
        <p>
          <a class="button primary" href={guest.href(PAGES.push.href({ url_token: urlToken }))}>
            {say('locked_go')}
          </a>
        </p>
      ) : (
        <Contact guest={guest} />
      )}
    </EmblemCard>
  )
}

/** After the recipient deleted it. */
export function Deleted({ guest }: { guest: Guest }) {
  const { say } = guest.words
  return (
    <EmblemCard icon="trash-2" tone="gone">
      <h1>{say('expired_title')}</h1>
      <p>{say('expired_text')}</p>
    </EmblemCard>
  )
}
