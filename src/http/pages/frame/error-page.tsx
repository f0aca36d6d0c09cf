// Shows an error as a page, in the language of the guest.

import type { ErrorCode } from '../../../domain/errors.ts'
import type { WordKey } from '../../../words/words.ts'
import type { AnswerRefusal, Refusal } from '../../door/errors.ts'
import type { Exchange } from '../../door/exchange.ts'
import { isSecretPath } from '../../urls.ts'
import type { GetGuest, Guest } from './guest.ts'
import type { AnswerGuest } from './page.tsx'

/** Refusals of the door, which does not look up a session. */
const WITHOUT_SESSION: ReadonlySet<ErrorCode> = new Set(['unknown_host', 'too_many', 'overloaded'])

export function createAnswerRefusal(options: { answer: AnswerGuest; getGuest: GetGuest }): AnswerRefusal {
  const { getGuest } = options

  /** With the session of the person, so that the page offers what they can go to. */
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
    const { status, code, path, headers, host } = refusal
    const guest = await guestOf(exchange, refusal)
    const { say } = guest.words
    const isMissing = code === 'not_found'
    const title = say(isMissing ? 'error_missing_title' : 'error_title')
    const text: WordKey = code === null ? 'error_internal' : `error_${code}`
    const content = (
      <>
        <h1>{title}</h1>
        {host === undefined ? (
          <p>{say(text, { id: exchange.requestId })}</p>
        ) : (
          <>
            <p>{say('error_unknown_host_named', { host: host.name })}</p>
            <pre>
              <code dir="ltr">{host.flags}</code>
            </pre>
          </>
        )}
      </>
    )
    // Recipients see a plain page.
    const frame = isSecretPath(path) ? 'plain' : 'branded'
    return options.answer(content, { guest, title, status, headers, frame, scripts: ['common'] })
  }
}
