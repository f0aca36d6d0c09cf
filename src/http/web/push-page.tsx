// One push as its owner sees it: its link again, what remains, its audit log; and the log to take along.

import { type AuditEntry, PAGE_SIZE } from '../../domain/audit.ts'
import { isEndedByTries, isExpired, type Push } from '../../domain/push.ts'
import { formatTime, type Now } from '../../domain/time.ts'
import type { PageNonces } from '../../services/page-nonces.ts'
import type { Pushes } from '../../services/pushes.ts'
import { answerSeeOther } from '../answers.ts'
import { secretLink } from '../api/push-json.ts'
import { writeCsv } from './csv.ts'
import { State } from './dashboard.tsx'
import { ExpireForm } from './expire-form.tsx'
import type { Form } from './form.ts'
import type { Member } from './guest.ts'
import { LocalhostNotice } from './localhost-notice.tsx'
import type { AnswerGuest } from './page.tsx'
import { CopyButton, KIND_WORDS, Moment, Notice } from './parts.tsx'
import { Tries } from './tries.tsx'
import type { WordKey } from './words/words.ts'

export type PushPageOptions = {
  answer: AnswerGuest
  pushes: Pick<Pushes, 'getOwned' | 'unlock' | 'audit' | 'auditAll' | 'expire'>
  nonces: PageNonces
  now: Now
}

type Params = Partial<Record<string, string>>

export function createPushPages({ answer, pushes, nonces, now }: PushPageOptions) {
  function show(guest: Member, { url_token = '' }: Params): Response {
    const owned = pushes.getOwned(url_token, guest.account)
    const { push, name, note, auditEntries } = owned
    const { words } = guest
    const title = name || words.say('push_unnamed', { kind: words.say(KIND_WORDS[push.kind]) })
    const live = !isExpired(push, now())
    const content = (
      <>
        <p>
          <a href={guest.href('/pushes')}>{words.say('pushes_back')}</a>
        </p>
        <h1>
          <bdi>{title}</bdi>
        </h1>
        {note === '' ? null : (
          <p class="note">
            <bdi>{note}</bdi>
          </p>
        )}
        {!live && guest.query.get('done') === 'expired' ? (
          <Notice kind="good">
            <p>{words.say('expired_text')}</p>
          </Notice>
        ) : null}
        <State words={words} listed={owned} now={now()} />
        <Tries guest={guest} listed={owned} isLive={live} />
        {live ? (
          <>
            <LocalhostNotice guest={guest} path={`/p/${url_token}/preview`} />
            <section aria-label={words.say('created_link')} class="link">
              <pre id="link">
                <code>{secretLink(owned, guest.exchange.baseUrl)}</code>
              </pre>
              <CopyButton target="link" guest={guest} />
            </section>
            <nav class="links" aria-label={title}>
              <a href={guest.href(`/p/${url_token}/preview`)}>{words.say('push_share')}</a>
              <a href={guest.href(`/p/${url_token}${push.retrievalStep ? '/r' : ''}`)}>
                {words.say('push_look')}
              </a>
            </nav>
          </>
        ) : null}
        {live || owned.hasGrants ? (
          <ExpireForm
            guest={guest}
            urlToken={url_token}
            nonce={nonces.issue(`expire/${url_token}`)}
            isOwner
            ends={live ? 'push' : 'grants'}
          />
        ) : null}
        <Log
          guest={guest}
          push={push}
          entries={pushes.audit(url_token, readPage(guest))}
          total={auditEntries}
          dropped={owned.auditDropped}
          urlToken={url_token}
        />
      </>
    )
    return answer(content, { guest, title, scripts: ['common'] })
  }

  function exportCsv(guest: Member, { url_token = '' }: Params): Response {
    const rows = pushes
      .auditAll(url_token, guest.viewer)
      .map(({ at, kind, ip, userAgent, referrer }) => [formatTime(at), kind, ip, userAgent, referrer])
    const csv = writeCsv([['time', 'kind', 'ip', 'user_agent', 'referrer'], ...rows])
    return attach(csv, { type: 'text/csv; charset=utf-8', filename: 'audit-log.csv' })
  }

  function exportJson(guest: Member, { url_token = '' }: Params): Response {
    const logs = pushes.auditAll(url_token, guest.viewer).map(({ at, userAgent, ...entry }) => ({
      ...entry,
      user_agent: userAgent,
      created_at: formatTime(at),
    }))
    return attach(JSON.stringify({ logs }, null, 2), { type: 'application/json', filename: 'audit-log.json' })
  }

  /** Ends at the push, where its state and its log are; expiring it again changes nothing. */
  async function expire(guest: Member, _form: Form, { url_token = '' }: Params): Promise<Response> {
    pushes.getOwned(url_token, guest.account)
    await pushes.expire(url_token, guest.viewer)
    return answerSeeOther(guest.href(`/pushes/${url_token}?done=expired`))
  }

  async function unlock(guest: Member, _form: Form, { url_token = '' }: Params): Promise<Response> {
    await pushes.unlock(url_token, guest.viewer)
    return answerSeeOther(guest.href(`/pushes/${url_token}?done=unlocked`))
  }

  return { show, expire, unlock, exportCsv, exportJson }
}

function attach(body: string, { type, filename }: { type: string; filename: string }): Response {
  return new Response(body, {
    headers: {
      'content-type': type,
      'content-disposition': `attachment; filename="${filename}"`,
      'content-security-policy': "sandbox; default-src 'none'",
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
  })
}

function readPage({ query }: Member): number {
  const page = query.get('page') ?? ''
  return /^[1-9]\d{0,2}$/.test(page) ? Number(page) : 1
}

const ENTRY_WORDS: Record<AuditEntry['kind'], WordKey> = {
  creation: 'audit_creation',
  view: 'audit_view',
  failed_view: 'audit_failed_view',
  failed_passphrase: 'audit_failed_passphrase',
  owner_view: 'audit_owner_view',
  expire: 'audit_expire',
  lock: 'audit_lock',
  unlock: 'audit_unlock',
}

/** Of its owner's wish or of wrong passphrases: the entry is the same. */
function wordOf({ kind }: AuditEntry, push: Push): WordKey {
  return kind === 'expire' && isEndedByTries(push) ? 'audit_expire_tries' : ENTRY_WORDS[kind]
}

type LogProps = {
  guest: Member
  push: Push
  entries: AuditEntry[]
  total: number
  dropped: number
  urlToken: string
}

function Log({ guest, push, entries, total, dropped, urlToken }: LogProps) {
  const { words } = guest
  const { say } = words
  const page = readPage(guest)
  const base = `/pushes/${urlToken}`
  return (
    <section aria-labelledby="log-title">
      <h2 id="log-title">{say('audit_title')}</h2>
      <div class="scrolls" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">{say('audit_time')}</th>
              <th scope="col">{say('audit_what')}</th>
              <th scope="col">{say('audit_address')}</th>
              <th scope="col">{say('audit_agent')}</th>
            </tr>
          </thead>
          <tbody>
            {entries.map((entry, n) => (
              <tr key={n}>
                <td>
                  <Moment at={entry.at} words={words} />
                </td>
                <td>{say(wordOf(entry, push))}</td>
                <td>
                  <bdi>{entry.ip}</bdi>
                </td>
                <td class="agent">
                  <bdi>{entry.userAgent}</bdi>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {dropped > 0 ? <p class="hint">{say('audit_dropped', { n: dropped })}</p> : null}
      <nav class="pages" aria-label={say('pages')}>
        {page > 1 ? <a href={guest.href(`${base}?page=${page - 1}`)}>{say('page_before')}</a> : null}
        {page * PAGE_SIZE < total ? (
          <a href={guest.href(`${base}?page=${page + 1}`)}>{say('page_after')}</a>
        ) : null}
        <a href={`${guest.basePath}${base}/audit.csv`}>{say('audit_csv')}</a>
        <a href={`${guest.basePath}${base}/audit.json`}>{say('audit_json')}</a>
      </nav>
    </section>
  )
}
