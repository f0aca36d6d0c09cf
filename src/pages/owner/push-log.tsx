// The audit log of a push for its owner: a page of entries, and how many entries were not kept.

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

const ENTRIES: Record<AuditEntry['kind'], { word: WordKey; icon: IconName }> = {
  creation: { word: 'audit_creation', icon: 'plus' },
  view: { word: 'audit_view', icon: 'eye' },
  failed_view: { word: 'audit_failed_view', icon: 'circle-x' },
  failed_passphrase: { word: 'audit_failed_passphrase', icon: 'triangle-alert' },
  owner_view: { word: 'audit_owner_view', icon: 'user' },
  expire: { word: 'audit_expire', icon: 'trash-2' },
  lock: { word: 'audit_lock', icon: 'lock' },
  unlock: { word: 'audit_unlock', icon: 'lock-open' },
  edit: { word: 'audit_edit', icon: 'pencil' },
  admin_view: { word: 'audit_admin_view', icon: 'user' },
  creation_email_send: { word: 'audit_creation_email_send', icon: 'mail' },
}

/**
 * The log has one kind of entry for expiry by its owner, by wrong passphrases and by a restore; the push
 * tells which it was.
 */
function describeEntry({ kind }: AuditEntry, push: Push): { word: WordKey; icon: IconName } {
  if (kind === 'expire' && push.lost) return { word: 'state_lost', icon: 'history' }
  const described = ENTRIES[kind]
  return kind === 'expire' && isEndedByTries(push) ? { ...described, word: 'audit_expire_tries' } : described
}

type LogProps = {
  guest: Member
  push: Push
  entries: AuditEntry[]
  log: LogFacts
  pageNumber: number
  urlToken: string
}

export function Log({ guest, push, entries, log, pageNumber, urlToken }: LogProps) {
  const { words, say } = guest
  const token = { url_token: urlToken }
  return (
    <section aria-labelledby="log-title">
      <h2 id="log-title">{say('audit_title')}</h2>
      <ol class="log">
        {entries.map((entry) => (
          <Entry entry={entry} push={push} words={words} />
        ))}
      </ol>
      <Missing log={log} words={words} />
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

function Entry({ entry, push, words }: { entry: AuditEntry; push: Push; words: Words }) {
  const { kind, at, ip, userAgent } = entry
  const { word, icon } = describeEntry(entry, push)
  return (
    <li class={kind.startsWith('failed_') ? 'failed' : kind}>
      <span class="with-icon">
        <Icon name={icon} />
        {words.say(word)}
      </span>
      <Moment at={at} words={words} />
      <bdi class="agent" title={userAgent === '' ? undefined : userAgent}>
        {programOf(userAgent, words)}
      </bdi>
      <bdi class="ip">{ip}</bdi>
    </li>
  )
}

function Missing({ log: { missing }, words }: { log: LogFacts; words: Words }) {
  const { say, moment } = words
  const { failures, ownerViews, edits, latest } = missing
  return [
    failures > 0 && say('audit_missing_failures', { n: failures }),
    ownerViews > 0 && say('audit_missing_looks', { n: ownerViews }),
    edits > 0 && say('audit_missing_edits', { n: edits }),
    latest.at > 0 && say('audit_missing_latest', { at: moment(latest.at), ip: latest.ip }),
  ].map((text) => text && <p class="hint">{text}</p>)
}
