// A row of an owner's list: what the push is, how far it is used up, and what can be done with it.

import { isUsedUp } from '../../domain/listing.ts'
import { isExpired } from '../../domain/push.ts'
import { PAGES, secretLink } from '../../http/urls.ts'
import type { Labelled, OverviewPush } from '../../pushes/owner-lists.ts'
import type { Words } from '../../words/words.ts'
import type { Member } from '../frame/guest.ts'
import type { IconName } from '../frame/icon-files.ts'
import { Icon } from '../frame/icons.tsx'
import { Chip, CopyButton, KIND_WORDS, nameForOwner, sayWhen } from '../frame/parts.tsx'
import { describeState } from './push-view.tsx'

const KIND_ICONS: Record<Labelled['push']['kind'], IconName> = {
  text: 'file-text',
  file: 'file',
  url: 'link',
  qr: 'qr-code',
}

/** Characters of a note that a row shows. The page of the push shows all. */
const SHORT_NOTE = 140

type Props = { guest: Member; listed: OverviewPush; now: number }

export function ListRow({ guest, listed, now }: Props) {
  const { words } = guest
  const { say } = words
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
      <span class="kind">
        <Icon name={KIND_ICONS[push.kind]} />
        <span class="visually-hidden">{say(KIND_WORDS[push.kind])}</span>
      </span>
      <div class="what">
        <a href={guest.href(PAGES.push.href({ url_token: urlToken }))} class="title">
          <bdi>{title}</bdi>
        </a>
        {isUnseen && <Chip tone="good">{say('pushes_new')}</Chip>}
        {note !== '' && (
          <p class="hint note">
            <bdi>{note.length > SHORT_NOTE ? `${note.slice(0, SHORT_NOTE)}…` : note}</bdi>
          </p>
        )}
        <p class="hint">
          {push.files > 0 && `${say('row_files', { n: push.files })} · `}
          {fileBytes > 0 && `${words.bytes(fileBytes)} · `}
          {sayWhen('row_created', push.createdAt, { words, now })}
        </p>
      </div>
      <State listed={listed} words={words} now={now} />
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

function State({ listed: { push }, words, now }: { listed: Labelled; words: Words; now: number }) {
  const { tone, text, isNotable, icon } = describeState(push, { words, now })
  const { views, expireAfterViews, lastViewedAt, expiredOn, expiresAt } = push
  return (
    <div class="state">
      {isNotable && (
        <Chip tone={tone} icon={icon}>
          <span>{text}</span>
        </Chip>
      )}
      <span>{words.say('row_views', { n: views, of: expireAfterViews })}</span>
      {!isUsedUp(push) && (
        <>
          <span>
            {isExpired(push, now)
              ? sayWhen('row_expired', expiredOn ?? expiresAt, { words, now })
              : sayWhen('row_expires', expiresAt, { words, now })}
          </span>
          <span class="hint">
            {views === 0
              ? words.say('row_waiting')
              : lastViewedAt === 0
                ? words.say('row_opened_once')
                : sayWhen('row_opened', lastViewedAt, { words, now })}
          </span>
        </>
      )}
    </div>
  )
}

type MenuProps = { guest: Member; listed: Labelled; title: string; isLive: boolean }

function Menu({ guest, listed: { urlToken }, title, isLive }: MenuProps) {
  const { href, words } = guest
  const { say } = words
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
