// The status and message with which the create form is shown again, for each refusal.

import { type DomainError, type ErrorDetails, isOutage, type OutageError } from '../../../domain/errors.ts'
import type { Problems } from '../../../domain/problems.ts'
import type { AnswerHeaders } from '../../../http/answers.ts'
import { outageHeaders } from '../../../http/door/errors.ts'
import type { Words } from '../../../words/words.ts'
import type { Guest } from '../../frame/guest.ts'
import type { Typed } from './create-sender.ts'

/** The reason for showing a form again. */
export type CreateRefusal = {
  typed: Typed
  status: number
  message: string
  /** The remedy. */
  advice?: string
  headers?: AnswerHeaders
  problems?: Problems
  /** Whether the form was sent with files, which browsers do not fill in again. */
  forgetsFiles?: boolean
  /** The push that this form has already created, to link to. The shown form creates another one. */
  madeUrlToken?: string | null
  /** Whether the form needs a new idempotency key. */
  isKeyUsed?: boolean
  /** Whether one account opened the form and another person sent it. */
  isOfSomebodyElse?: boolean
  /** Whether the sender could not be looked up. The form then keeps its opener. */
  isUnknown?: boolean
}

type Explanation = Omit<CreateRefusal, 'typed'>

const TOO_LARGE = { text: 'too_large_text', file: 'too_large_file', files: 'too_large_files' } as const

/** Returns null if the form does not explain the refusal. */
export function explainRefusal(cause: DomainError, guest: Guest): Explanation | null {
  const { say, bytes } = guest.words
  if (isOutage(cause)) return whyOutage(cause, guest)
  const { code, details } = cause
  switch (code) {
    case 'invalid':
      return { status: 422, message: say('create_problems'), problems: details.problems ?? {} }
    case 'unauthenticated':
      if (details.sender === undefined) return { status: 401, message: say('files_need_account') }
      return { status: 401, message: say('form_signed_out'), isOfSomebodyElse: true }
    case 'forbidden': {
      const message = say('form_other_session', { email: guest.viewer.account?.email ?? '' })
      return details.sender === undefined ? null : { status: 403, message, isOfSomebodyElse: true }
    }
    case 'conflict':
      return { status: 409, message: say('create_ended'), isKeyUsed: true }
    case 'too_many':
    case 'too_many_mails': {
      const { room, retryAfter = 60 } = details
      const message = room === undefined ? say(`error_${code}`) : explainRoom(room, guest.words)
      return { status: 429, message, headers: { 'retry-after': String(retryAfter) } }
    }
    case 'too_large': {
      const { limit } = details
      const headers = { connection: 'close' }
      if (limit === undefined) return { status: 413, message: say('error_too_large'), headers }
      const named = { size: bytes(limit.bytes), flag: limit.flag }
      return { status: 413, message: say(TOO_LARGE[limit.of], named), headers }
    }
    default:
      return null
  }
}

/**
 * Explains an outage. The form keeps its idempotency key, so that a retry creates no second push even if the
 * first try succeeded.
 */
export function whyOutage(cause: OutageError, { words: { say } }: Guest): Explanation {
  return {
    status: 503,
    headers: outageHeaders(cause),
    message: say(`outage_${cause.code}`),
    advice: say('create_outage'),
  }
}

/** Explains which limit on stored pushes this address has reached. */
function explainRoom(room: NonNullable<ErrorDetails['room']>, words: Words): string {
  const { limit, most, roomAt } = room
  const size = words.bytes(most)
  if (roomAt === null) return words.say('room_never', { size })
  const when = words.moment(roomAt)
  return limit === 'pushes'
    ? words.say('room_pushes', { n: most, when })
    : words.say('room_bytes', { size, when })
}
