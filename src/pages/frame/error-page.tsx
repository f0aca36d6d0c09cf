// Shows an error as a page, in the language of the guest.

import { type ErrorCode, isOutageCode, type OutageCode } from '../../domain/errors.ts'
import type { AnswerRefusal, HttpRefusal } from '../../http/door/errors.ts'
import type { Exchange } from '../../http/door/exchange.ts'
import { isGivenPath, isSecretPath, PAGES } from '../../http/urls.ts'
import type { WordKey } from '../../words/words.ts'
import { Contact } from './brand.tsx'
import type { GetGuest, Guest } from './guest.ts'
import type { IconName } from './icon-files.ts'
import type { AnswerGuest } from './page.tsx'
import { EmblemCard } from './parts.tsx'

/** Refusals that are answered without looking up a session. */
const WITHOUT_SESSION: ReadonlySet<ErrorCode> = new Set(['unknown_host', 'too_many', 'overloaded'])

/** Titles and icons of refusals that differ from the default. */
const LOOKS: Partial<Record<ErrorCode, { title: WordKey; icon?: IconName }>> = {
  not_found: { title: 'error_missing_title', icon: 'search' },
  forbidden: { title: 'error_forbidden_title', icon: 'lock' },
  other_site: { title: 'error_forbidden_title' },
  unknown_host: { title: 'error_unknown_host_title' },
  too_many: { title: 'error_too_many_title', icon: 'hourglass' },
  too_many_mails: { title: 'error_too_many_title', icon: 'hourglass' },
  overloaded: { title: 'error_busy_title', icon: 'hourglass' },
  files_unreachable: { title: 'error_files_title', icon: 'hourglass' },
}

function lookOf(code: ErrorCode | null): { title: WordKey; icon: IconName } {
  if (code === null) return { title: 'error_internal_title', icon: 'triangle-alert' }
  return { title: 'error_title', icon: 'circle-alert', ...LOOKS[code] }
}

export function createAnswerRefusal(options: { answer: AnswerGuest; getGuest: GetGuest }): AnswerRefusal {
  const { getGuest } = options

  /** Looks up the session, so that the page can show the right navigation. */
  async function guestOf(exchange: Exchange, { code }: HttpRefusal): Promise<Guest> {
    const showsNavigation = !isGivenPath(exchange.path)
    if (!showsNavigation || code === null || WITHOUT_SESSION.has(code)) return getGuest.stranger(exchange)
    try {
      return await getGuest(exchange)
    } catch {
      // Show the error even if the session cannot be looked up.
      return getGuest.stranger(exchange)
    }
  }

  return async (exchange, refusal) => {
    const { path } = exchange
    const { status, code, headers, isInDoubt, host } = refusal
    const guest = await guestOf(exchange, refusal)
    const { say } = guest
    const isForRecipients = exchange.isOutside || isGivenPath(path)
    const look = lookOf(code)
    const title = say(look.title)
    const content = (
      <EmblemCard icon={look.icon} tone="gone" title={title}>
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
        {code === 'not_found' && !isForRecipients && (
          <p class="actions">
            <a class="button quiet" href={guest.href(PAGES.create.href())}>
              {say('error_home')}
            </a>
            {guest.session !== null && (
              <a class="button quiet" href={guest.href(PAGES.pushes.href())}>
                {say('error_pushes')}
              </a>
            )}
          </p>
        )}
        <Contact guest={guest} />
      </EmblemCard>
    )
    // Show recipients a plain page. Do the same for a refused host name, because every link on the page would
    // be refused too.
    const frame = isForRecipients || code === 'unknown_host' ? 'plain' : 'branded'
    return options.answer(content, {
      guest,
      title,
      status,
      headers,
      frame,
      width: 'narrow',
    })
  }
}

type OutageProps = { guest: Guest; code: OutageCode; path: string; isInDoubt: boolean }

/**
 * Says what happened to the secret or the change. Links back to the page of a secret link, because the button
 * there works only once.
 */
function Outage({ guest, code, path, isInDoubt }: OutageProps) {
  const { say } = guest
  const isSecret = isSecretPath(path)
  const page = path.replace(/\/expire$/, '')
  const doubt = isSecret && page === path ? 'receive_outage_doubt' : 'outage_doubt'
  return (
    <>
      <p>{say(`outage_${code}`)}</p>
      {(isInDoubt || isSecret) && (
        <p>
          <strong>{say(isInDoubt ? doubt : 'receive_outage')}</strong>
        </p>
      )}
      <p>{isSecret ? <a href={guest.href(page)}>{say('outage_retry')}</a> : say('outage_retry')}</p>
    </>
  )
}
