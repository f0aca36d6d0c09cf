// A row of an owner's list: its openings and end, its name and kind, and its menu. An answer shows when it
// arrived or was read.

import { isExpired, type Push, UNTOUCHED } from '../../domain/push.ts'
import { DAY, HOUR, MINUTE } from '../../domain/time.ts'
import { PAGES, secretLink } from '../../http/urls.ts'
import type { LabelledPush, OverviewPush } from '../../pushes/owner-lists.ts'
import type { Words } from '../../words/words.ts'
import type { Member } from '../frame/guest.ts'
import { Icon } from '../frame/icons.tsx'
import { Openings } from '../frame/openings.tsx'
import { Chip, CopyButton, KIND_ICONS, nameForOwner, sayWhen } from '../frame/parts.tsx'
import { sealedKey } from '../frame/sealing.tsx'
import { Arrival } from './received-view.tsx'

/** Characters of a note in a row. The page of the push shows the whole note. */
const SHORT_NOTE = 140

type Props = { guest: Member; listed: OverviewPush; now: number }

export function ListRow({ guest, listed, now }: Props) {
  const { words, say } = guest
  const { push, urlToken, note, isUnseen, readAt, fileBytes } = listed
  const title = nameForOwner(listed, words)
  const isLive = !isExpired(push, now)
  const isReceived = listed.request !== null
  return (
    <li>
      <label class="check">
        <input
          type="checkbox"
          name="push"
          value={urlToken}
          autocomplete="off"
          aria-label={say('pushes_select', { name: title })}
        />
      </label>
      <div class="status">
        {isReceived ? (
          <Arrival push={push} readAt={readAt} words={words} now={now} />
        ) : (
          <Openings push={push} words={words} now={now} />
        )}
      </div>
      <span class="kind">
        <Icon name={isReceived ? 'inbox' : KIND_ICONS[push.kind]} />
        <span class="visually-hidden">{say(isReceived ? 'received' : `kind_${push.kind}`)}</span>
      </span>
      <div class="what">
        <a href={guest.href(PAGES.push.href({ url_token: urlToken }))} class="title">
          <bdi>{title}</bdi>
        </a>
        {push.isNew ? (
          <Chip tone="good">{say('row_new')}</Chip>
        ) : (
          isUnseen && <Chip tone="good">{say('audit_view')}</Chip>
        )}
        {note !== '' && (
          <p class="hint note">
            <bdi>{note.length > SHORT_NOTE ? `${note.slice(0, SHORT_NOTE)}…` : note}</bdi>
          </p>
        )}
        <p class="hint">
          {push.files > 0 && `${say('row_files', { n: push.files })} · `}
          {fileBytes > 0 && `${words.bytes(fileBytes)} · `}
          {sealedText(listed, words)}
          {sayWhen(isReceived ? 'row_received' : 'row_created', push.createdAt, { words, now })}
        </p>
      </div>
      {isLive &&
        (isReceived ? (
          <ReadButton {...{ guest, urlToken, title }} />
        ) : (
          push.keyCheck === null && <CopyLink {...{ guest, listed }} />
        ))}
      <Menu guest={guest} listed={listed} title={title} isLive={isLive} />
    </li>
  )
}

/** Returns the name of the side that encrypted it, after a separator; '' if the server can read it. */
function sealedText({ push, request }: OverviewPush, { say }: Words): string {
  const key = sealedKey(push, request !== null)
  return key === null ? '' : `${say(key)} · `
}

/** A button that opens an answer from its row. It sends the form of the list to another URL. */
function ReadButton({ guest, urlToken, title }: { guest: Member; urlToken: string; title: string }) {
  const { say, href } = guest
  return (
    <button
      type="submit"
      class="bare square"
      formaction={href(PAGES.readAnswer.href({ url_token: urlToken }))}
      aria-label={say('labelled', { label: say('received_read'), text: title })}
    >
      <Icon name="eye" />
    </button>
  )
}

function CopyLink({ guest: { words, exchange }, listed }: { guest: Member; listed: OverviewPush }) {
  const label = words.say('copy_link')
  return (
    <CopyButton
      target=""
      text={secretLink(listed, exchange.linkBase)}
      words={words}
      look="bare square"
      label={label}
    />
  )
}

const EXAMPLE: Push = {
  ...{ ...UNTOUCHED, views: 1, expireAfterViews: 5, expireAfterDays: 7, ownerId: null, kind: 'qr' as const },
  ...{ createdAt: 0, updatedAt: 0, expiresAt: 0, wrongTriesSince: 0, encryptedBy: null, keyCheck: null },
  ...{ deletableByViewer: true, retrievalStep: false, showsSender: false, passphraseRequired: false },
  codeRequired: false,
}

/** The example row, which is no push and has no controls. */
export function ExampleRow({ words, now }: { words: Words; now: number }) {
  const push = { ...EXAMPLE, lastViewedAt: now - 3 * MINUTE, expiresAt: now + 7 * DAY }
  return (
    <li>
      <div class="status">
        <Openings push={push} words={words} now={now} />
      </div>
      <span class="kind">
        <Icon name="qr-code" />
      </span>
      <div class="what">
        <strong class="title">{words.say('pushes_example')}</strong>
        <Chip tone="gone">{words.say('pushes_example_mark')}</Chip>
        <p class="hint">{sayWhen('row_created', now - HOUR, { words, now })}</p>
      </div>
    </li>
  )
}

type MenuProps = { guest: Member; listed: LabelledPush; title: string; isLive: boolean }

function Menu({ guest, listed: { urlToken, request }, title, isLive }: MenuProps) {
  const { href, say } = guest
  const token = { url_token: urlToken }
  const isOwn = request === null
  return (
    <details class="menu">
      <summary aria-label={say('row_menu', { name: title })}>
        <Icon name="ellipsis-vertical" />
      </summary>
      <div class="sheet">
        {isOwn && isLive && <a href={href(PAGES.created.href(token))}>{say('push_share')}</a>}
        {isOwn && <a href={href(`${PAGES.create.href()}?like=${urlToken}`)}>{say('push_again')}</a>}
        {request !== null && request !== '' && (
          <a href={href(PAGES.request.href({ url_token: request }))}>{say('request_unnamed')}</a>
        )}
        <a href={href(`${PAGES.push.href(token)}?edit=1#edit`)}>{say('push_edit')}</a>
        {isLive && (
          <button type="submit" name="only" value={urlToken} class="danger">
            {say(isOwn ? 'push_expire' : 'row_delete')}
          </button>
        )}
      </div>
    </details>
  )
}
