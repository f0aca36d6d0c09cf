// The status and the sentence with which the create form is shown again, for each refusal.

import type { DomainError, ErrorDetails } from '../../../../domain/errors.ts'
import type { Words } from '../../../../words/words.ts'
import type { Guest } from '../../frame/guest.ts'
import type { Refused } from './create-page.tsx'

type Why = Omit<Refused, 'typed'>

const TOO_LARGE = { text: 'too_large_text', file: 'too_large_file', files: 'too_large_files' } as const

/** Null for a refusal that the form does not explain. */
export function explainRefusal({ code, details }: DomainError, guest: Guest): Why | null {
  const { say, bytes } = guest.words
  const retry = (seconds: number) => ({ 'retry-after': String(seconds) })
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
    case 'disk_full':
      return { status: 507, message: say('error_disk_full') }
    case 'files_unreachable':
      return { status: 503, message: say('error_files_unreachable'), headers: retry(details.retryAfter ?? 5) }
    case 'overloaded':
      return { status: 503, message: say('error_overloaded'), headers: retry(details.retryAfter ?? 1) }
    case 'too_many': {
      const { room, retryAfter = 60 } = details
      const message = room === undefined ? say('error_too_many') : explainRoom(room, guest.words)
      return { status: 429, message, headers: retry(retryAfter) }
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

/** Why there is no room for one more push from this address. */
function explainRoom(room: NonNullable<ErrorDetails['room']>, words: Words): string {
  const { limit, most, roomAt } = room
  const size = words.bytes(most)
  if (roomAt === null) return words.say('room_never', { size })
  const when = words.moment(roomAt)
  return limit === 'pushes'
    ? words.say('room_pushes', { n: most, when })
    : words.say('room_bytes', { size, when })
}
