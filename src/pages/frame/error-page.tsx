// Shows an error as a page, in the language of the guest.

import { type ErrorCode, isOutageCode, type OutageCode } from '../../domain/errors.ts'
import type { AnswerRefusal, Refusal } from '../../http/door/errors.ts'
import type { Exchange } from '../../http/door/exchange.ts'
import { isSecretPath, PAGES } from '../../http/urls.ts'
import type { WordKey } from '../../words/words.ts'
import { Contact } from './brand.tsx'
import { EmblemCard } from './emblem-card.tsx'
import type { GetGuest, Guest } from './guest.ts'
import type { IconName } from './icon-files.ts'
import type { AnswerGuest } from './page.tsx'

/** Refusals of the door, which does not look up a session. */
const WITHOUT_SESSION: ReadonlySet<ErrorCode> = new Set(['unknown_host', 'too_many', 'overloaded'])

const TITLES: Partial<Record<ErrorCode, WordKey>> = {
  not_found: 'error_missing_title',
  forbidden: 'error_forbidden_title',
  other_site: 'error_forbidden_title',
  unknown_host: 'error_unknown_host_title',
  too_many: 'error_too_many_title',
  overloaded: 'error_busy_title',
  files_unreachable: 'error_files_title',
}

const ICONS: Partial<Record<ErrorCode, IconName>> = {
  not_found: 'search',
  forbidden: 'lock',
  too_many: 'hourglass',
  overloaded: 'hourglass',
  files_unreachable: 'hourglass',
}

export function createAnswerRefusal(options: { answer: AnswerGuest; getGuest: GetGuest }): AnswerRefusal {
  const { getGuest } = options

  /** Looks up the session, so that the navigation of the page fits the person. */
  async function guestOf(exchange: Exchange, { code, path }: Refusal): Promise<Guest> {
    const showsNavigation = !isSecretPath(path)
    if (!showsNavigation || code === null || WITHOUT_SESSION.has(code)) return getGuest.stranger(exchange)
    try {
      return await getGuest(exchange)
    } catch {
      // Show the error even if the database cannot look up the session.
      return getGuest.stranger(exchange)
    }
  }

  return async (exchange, refusal) => {
    const { status, code, path, headers, isInDoubt, host } = refusal
    const guest = await guestOf(exchange, refusal)
    const { say } = guest.words
    const title = say((code === null ? 'error_internal_title' : TITLES[code]) ?? 'error_title')
    const content = (
      <EmblemCard icon={code === null ? 'triangle-alert' : (ICONS[code] ?? 'circle-alert')} tone="gone">
        <h1>{title}</h1>
        {isOutageCode(code) ? (
          <Outage guest={guest} code={code} path={path} isInDoubt={isInDoubt} />
        ) : host === undefined ? (
          <p>{say(`error_${code ?? 'internal'}`, { id: exchange.requestId })}</p>
        ) : (
          <>
            <p>{say('error_unknown_host_named', { host: host.name })}</p>
            <pre>
              <code dir="ltr">{host.flags}</code>
            </pre>
          </>
        )}
        {code === 'not_found' && !isSecretPath(path) ? (
          <p>
            <a href={guest.href(PAGES.create.href())}>{say('error_home')}</a>
          </p>
        ) : null}
        <Contact guest={guest} />
      </EmblemCard>
    )
    // Recipients see a plain page. So does a client of a refused host name, because every link there would be refused too.
    const frame = isSecretPath(path) || code === 'unknown_host' ? 'plain' : 'branded'
    return options.answer(content, {
      guest,
      title,
      status,
      headers,
      frame,
      width: 'narrow',
      scripts: ['common'],
    })
  }
}

type OutageProps = { guest: Guest; code: OutageCode; path: string; isInDoubt: boolean }

/** Says what became of a secret or of a change, and leads back to the page of a secret link: its button works once. */
function Outage({ guest, code, path, isInDoubt }: OutageProps) {
  const { say } = guest.words
  const isSecret = isSecretPath(path)
  const page = path.replace(/\/expire$/, '')
  const doubt = isSecret && page === path ? 'receive_outage_doubt' : 'outage_doubt'
  return (
    <>
      <p>{say(`outage_${code}`)}</p>
      {isInDoubt || isSecret ? (
        <p>
          <strong>{say(isInDoubt ? doubt : 'receive_outage')}</strong>
        </p>
      ) : null}
      <p>{isSecret ? <a href={guest.href(page)}>{say('outage_retry')}</a> : say('outage_retry')}</p>
    </>
  )
}
