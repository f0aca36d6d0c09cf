// The audit log of a push for its owner: a page of entries, and how many entries were dropped.

import { type AuditEntry, PAGE_SIZE } from '../../domain/audit.ts'
import { isEndedByTries, type Push } from '../../domain/push.ts'
import { PAGES } from '../../http/urls.ts'
import type { LogFacts } from '../../pushes/pushes.ts'
import type { WordKey, Words } from '../../words/words.ts'
import type { Member } from '../frame/guest.ts'
import type { IconName } from '../frame/icon-files.ts'
import { Icon } from '../frame/icons.tsx'
import { ExportLinks, PageLinks } from '../frame/lists.tsx'
import { Moment } from '../frame/parts.tsx'
import { programOf } from '../frame/programs.ts'

const ICONS: Record<AuditEntry['kind'], IconName> = {
  creation: 'plus',
  view: 'eye',
  failed_view: 'circle-x',
  failed_passphrase: 'triangle-alert',
  owner_view: 'user',
  expire: 'trash-2',
  lock: 'lock',
  unlock: 'lock-open',
  edit: 'pencil',
  admin_view: 'user',
  creation_email_send: 'mail',
}

/**
 * Returns the text and icon of an entry. The log records expiry by the owner, by wrong passphrases and by a
 * restore as the same kind; the push itself tells them apart.
 */
function describeEntry({ kind }: AuditEntry, { push, isReceived }: LogOf): { word: WordKey; icon: IconName } {
  if (isReceived && kind === 'creation') return { word: 'audit_arrived', icon: 'inbox' }
  if (isReceived && kind === 'owner_view') return { word: 'audit_read', icon: 'eye' }
  if (kind === 'expire' && push.lost) return { word: 'state_lost', icon: 'history' }
  const isByTries = kind === 'expire' && isEndedByTries(push)
  return { word: isByTries ? 'audit_expire_tries' : `audit_${kind}`, icon: ICONS[kind] }
}

/** `isReceived`: the push answers a request. */
type LogOf = { push: Push; isReceived: boolean }

type LogProps = LogOf & {
  guest: Member
  entries: AuditEntry[]
  log: LogFacts
  pageNumber: number
  urlToken: string
}

export function Log({ guest, push, isReceived, entries, log, pageNumber, urlToken }: LogProps) {
  const { words, say } = guest
  const token = { url_token: urlToken }
  return (
    <section aria-labelledby="log-title">
      <h2 id="log-title">{say('audit_title')}</h2>
      <ol class="log">
        {entries.map((entry) => (
          <Entry entry={entry} of={{ push, isReceived }} words={words} />
        ))}
      </ol>
      <DroppedEntries log={log} words={words} />
      <PageLinks
        guest={guest}
        pageNumber={pageNumber}
        hasNext={pageNumber * PAGE_SIZE < log.entries}
        linkTo={(page) => guest.href(`${PAGES.push.href(token)}?page=${page}`)}
      />
      <ExportLinks guest={guest} csv={PAGES.auditCsv.href(token)} json={PAGES.auditJson.href(token)} />
    </section>
  )
}

function Entry({ entry, of, words }: { entry: AuditEntry; of: LogOf; words: Words }) {
  const { kind, at, ip, userAgent } = entry
  const { word, icon } = describeEntry(entry, of)
  return (
    <li class={kind.startsWith('failed_') ? 'failed' : kind}>
      <span class="with-icon">
        <Icon name={icon} />
        {words.say(word)}
      </span>
      <Moment at={at} words={words} />
      <span class="agent" title={userAgent === '' ? undefined : userAgent}>
        {programOf(userAgent, words)}
      </span>
      <bdi class="ip" dir="ltr">
        {ip}
      </bdi>
    </li>
  )
}

function DroppedEntries({ log: { missing }, words }: { log: LogFacts; words: Words }) {
  const { say, moment } = words
  const { failures, ownerViews, edits, latest } = missing
  return [
    failures > 0 && say('audit_missing_failures', { n: failures }),
    ownerViews > 0 && say('audit_missing_looks', { n: ownerViews }),
    edits > 0 && say('audit_missing_edits', { n: edits }),
    latest.at > 0 && say('audit_missing_latest', { at: moment(latest.at), ip: latest.ip }),
  ].map((text) => text && <p class="hint">{text}</p>)
}
