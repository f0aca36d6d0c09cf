// The audit log of a push for its owner: a page of entries, and how many entries were not kept.

import { type AuditEntry, PAGE_SIZE } from '../../domain/audit.ts'
import { isEndedByTries, type Push } from '../../domain/push.ts'
import { PAGES } from '../../http/urls.ts'
import type { LogFacts } from '../../pushes/pushes.ts'
import type { WordKey, Words } from '../../words/words.ts'
import type { Member } from '../frame/guest.ts'
import type { IconName } from '../frame/icon-files.ts'
import { Icon } from '../frame/icons.tsx'
import { Moment } from '../frame/parts.tsx'
import { programOf } from '../frame/programs.ts'

const ENTRY_WORDS: Record<AuditEntry['kind'], WordKey> = {
  creation: 'audit_creation',
  view: 'audit_view',
  failed_view: 'audit_failed_view',
  failed_passphrase: 'audit_failed_passphrase',
  owner_view: 'audit_owner_view',
  expire: 'audit_expire',
  lock: 'audit_lock',
  unlock: 'audit_unlock',
  edit: 'audit_edit',
  admin_view: 'audit_admin_view',
  creation_email_send: 'audit_creation_email_send',
}

const ENTRY_ICONS: Record<AuditEntry['kind'], IconName> = {
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

/** The log has one kind of entry for expiry by its owner, by wrong passphrases and by a restore; the push tells which it was. */
function wordOf({ kind }: AuditEntry, push: Push): WordKey {
  if (kind !== 'expire') return ENTRY_WORDS[kind]
  if (push.lost) return 'state_lost'
  return isEndedByTries(push) ? 'audit_expire_tries' : ENTRY_WORDS[kind]
}

function iconOf({ kind }: AuditEntry, push: Push): IconName {
  return kind === 'expire' && push.lost ? 'history' : ENTRY_ICONS[kind]
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
  const { words } = guest
  const { say } = words
  const token = { url_token: urlToken }
  const linkTo = (page: number) => guest.href(`${PAGES.push.href(token)}?page=${page}`)
  return (
    <section aria-labelledby="log-title">
      <h2 id="log-title">{say('audit_title')}</h2>
      <ol class="log">
        {entries.map((entry) => (
          <Entry entry={entry} push={push} words={words} />
        ))}
      </ol>
      <Missing log={log} words={words} />
      {log.entries > PAGE_SIZE ? (
        <nav class="pages" aria-label={say('pages')}>
          {pageNumber > 1 ? <a href={linkTo(pageNumber - 1)}>{say('page_before')}</a> : null}
          {pageNumber * PAGE_SIZE < log.entries ? (
            <a href={linkTo(pageNumber + 1)}>{say('page_after')}</a>
          ) : null}
        </nav>
      ) : null}
      <p class="links">
        <a href={`${guest.basePath}${PAGES.auditCsv.href(token)}`}>{say('audit_csv')}</a>
        <a href={`${guest.basePath}${PAGES.auditJson.href(token)}`}>{say('audit_json')}</a>
      </p>
    </section>
  )
}

function Entry({ entry, push, words }: { entry: AuditEntry; push: Push; words: Words }) {
  const { kind, at, ip, userAgent } = entry
  return (
    <li class={kind.startsWith('failed_') ? 'failed' : kind}>
      <span class="with-icon">
        <Icon name={iconOf(entry, push)} />
        {words.say(wordOf(entry, push))}
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
  const { say } = words
  const { failures, ownerViews, edits, latest } = missing
  return (
    <>
      {failures > 0 ? <p class="hint">{say('audit_missing_failures', { n: failures })}</p> : null}
      {ownerViews > 0 ? <p class="hint">{say('audit_missing_looks', { n: ownerViews })}</p> : null}
      {edits > 0 ? <p class="hint">{say('audit_missing_edits', { n: edits })}</p> : null}
      {latest.at > 0 ? (
        <p class="hint">{say('audit_missing_latest', { at: words.moment(latest.at), ip: latest.ip })}</p>
      ) : null}
    </>
  )
}
