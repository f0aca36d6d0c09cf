// A refusal as a page, in the words of whoever is refused.

import type { ErrorCode } from '../../domain/errors.ts'
import type { AnswerHeaders } from '../answers.ts'
import type { Exchange } from '../exchange.ts'
import type { GetGuest } from './guest.ts'
import type { AnswerGuest } from './page.tsx'
import type { WordKey } from './words/words.ts'

export type Refusal = {
  status: number
  /** Null for a failure that nobody foresaw. */
  code: ErrorCode | null
  path: string
  headers: AnswerHeaders
}

export type AnswerRefusal = (exchange: Exchange, refusal: Refusal) => Response

export function createAnswerRefusal(options: {
  answer: AnswerGuest
  getStranger: GetGuest['stranger']
}): AnswerRefusal {
  return (exchange, { status, code, path, headers }) => {
    const guest = options.getStranger(exchange)
    const { say } = guest.words
    const isMissing = code === 'not_found'
    const title = say(isMissing ? 'error_missing_title' : 'error_title')
    const text: WordKey = code === null ? 'error_internal' : `error_${code}`
    const content = (
      <>
        <h1>{title}</h1>
        <p>{say(text, { id: exchange.requestId })}</p>
      </>
    )
    const frame = path.startsWith('/p/') ? 'plain' : 'branded'
    return options.answer(content, { guest, title, status, headers, frame, scripts: ['common'] })
  }
}
