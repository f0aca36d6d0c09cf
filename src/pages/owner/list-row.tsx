// A row of an owner's list: whether the push was opened, its name and kind, its views and expiry, and its
// menu.

import { isEnding, isUsedUp } from '../../domain/listing.ts'
import { isExpired, isLocked, type Push } from '../../domain/push.ts'
import { DAY, HOUR, MINUTE } from '../../domain/time.ts'
import { PAGES, secretLink } from '../../http/urls.ts'
import type { LabelledPush, OverviewPush } from '../../pushes/owner-lists.ts'
import type { Words } from '../../words/words.ts'
import type { Member } from '../frame/guest.ts'
import { Icon } from '../frame/icons.tsx'
import { Chip, CopyButton, KIND_ICONS, nameForOwner, sayWhen } from '../frame/parts.tsx'
import { describeState, type StateText } from './push-view.tsx'

/** Characters of a note in a row. The page of the push shows the whole note. */
const SHORT_NOTE = 140

type Props = { guest: Member; listed: OverviewPush; now: number }

export function ListRow({ guest, listed, now }: Props) {
  const { words, say } = guest
  const { push, urlToken, note, isUnseen, fileBytes } = listed
  const title = nameForOwner(listed, words)
  const isLive = !isExpired(push, now)
  return (
    <li class={isUnseen ? 'unseen-views' : undefined}>
      <label class="check">
        <input
          type="checkbox"
          name="push"
          value={urlToken}
          autocomplete="off"
          aria-label={say('pushes_select', { name: title })}
        />
      </label>
      <Status push={push} words={words} now={now} />
      <span class="kind">
        <Icon name={KIND_ICONS[push.kind]} />
        <span class="visually-hidden">{say(`kind_${push.kind}`)}</span>
      </span>
      <div class="what">
        <a href={guest.href(PAGES.push.href({ url_token: urlToken }))} class="title">
          <bdi>{title}</bdi>
        </a>
        {isUnseen && <Chip tone="good">{say('pushes_new')}</Chip>}
        {listed.request !== null && <Chip tone="waiting">{say('received')}</Chip>}
        {note !== '' && (
          <p class="hint note">
            <bdi>{note.length > SHORT_NOTE ? `${note.slice(0, SHORT_NOTE)}…` : note}</bdi>
          </p>
        )}
        <p class="hint">
          {push.files > 0 && `${say('row_files', { n: push.files })} · `}
          {fileBytes > 0 && `${words.bytes(fileBytes)} · `}
          {sayWhen(listed.request === null ? 'row_created' : 'row_received', push.createdAt, { words, now })}
        </p>
      </div>
      <Usage push={push} words={words} now={now} isReceived={listed.request !== null} />
      {isLive && (
        <CopyButton
          target=""
          text={secretLink(listed, guest.exchange.baseUrl)}
          words={words}
          look="bare square"
          label={say('copy_link')}
        />
      )}
      <Menu guest={guest} listed={listed} title={title} isLive={isLive} />
    </li>
  )
}

type PartProps = { push: Push; words: Words; now: number }

/** The first thing a sender wants to know: whether the push was opened; if not, whether it expires soon. */
export function Status({ push, words, now }: PartProps) {
  const { tone, icon, text } = statusOf(push, { words, now })
  return (
    <div class="status">
      <Chip tone={tone} icon={icon}>
        <span>{text}</span>
      </Chip>
    </div>
  )
}

/** The row of the example: it is no push and has no controls. */
export function ExampleRow({ words, now }: { words: Words; now: number }) {
  return (
    <li>
      <div class="status">
        <Chip tone="good" icon="eye">
          <span>{sayWhen('row_opened', now - 3 * MINUTE, { words, now })}</span>
        </Chip>
      </div>
      <span class="kind">
        <Icon name="qr-code" />
      </span>
      <div class="what">
        <strong class="title">{words.say('pushes_example')}</strong>
        <p class="hint">{sayWhen('row_created', now - HOUR, { words, now })}</p>
      </div>
      <div class="use">
        <span>{words.say('row_views', { opened: 1, n: 5 })}</span>
        <span>{sayWhen('row_expires', now + 7 * DAY, { words, now })}</span>
      </div>
    </li>
  )
}

function statusOf(push: Push, seen: { words: Words; now: number }): StateText {
  const state = describeState(push, seen)
  if (isExpired(push, seen.now) || isLocked(push)) return state
  if (push.views > 0) return { tone: 'good', icon: 'eye', text: sayOpened(push, seen) }
  if (isEnding(push, seen.now)) return { ...state, text: sayWhen('row_expires', push.expiresAt, seen) }
  return { ...state, text: seen.words.say('row_waiting') }
}

/** An imported push may have views but no time of the last one. */
function sayOpened({ lastViewedAt }: Push, seen: { words: Words; now: number }) {
  return lastViewedAt === 0 ? seen.words.say('row_opened_once') : sayWhen('row_opened', lastViewedAt, seen)
}

/** The views and the expiry of a push. */
function Usage({ push, words, now, isReceived }: PartProps & { isReceived: boolean }) {
  const { views, expireAfterViews, expiredOn, expiresAt } = push
  const isOver = isExpired(push, now)
  return (
    <div class="use">
      {(!isReceived || views > 0) && (
        <span>{words.say('row_views', { opened: views, n: expireAfterViews })}</span>
      )}
      {!isUsedUp(push) && (
        <span>
          {isOver
            ? sayWhen('row_expired', expiredOn ?? expiresAt, { words, now })
            : sayWhen('row_expires', expiresAt, { words, now })}
        </span>
      )}
    </div>
  )
}

type MenuProps = { guest: Member; listed: LabelledPush; title: string; isLive: boolean }

function Menu({ guest, listed: { urlToken }, title, isLive }: MenuProps) {
  const { href, say } = guest
  const token = { url_token: urlToken }
  return (
    <details class="menu">
      <summary aria-label={say('row_menu', { name: title })}>
        <Icon name="ellipsis-vertical" />
      </summary>
      <div class="sheet">
        {isLive && <a href={href(PAGES.created.href(token))}>{say('push_share')}</a>}
        <a href={href(`${PAGES.create.href()}?like=${urlToken}`)}>{say('push_again')}</a>
        <a href={href(`${PAGES.push.href(token)}?edit=1#edit`)}>{say('push_edit')}</a>
        {isLive && (
          <button type="submit" name="only" value={urlToken} class="danger">
            {say('push_expire')}
          </button>
        )}
      </div>
    </details>
  )
}
