// Why there is no room for one more push from this address, in words.

import type { ErrorDetails } from '../../../domain/errors.ts'
import type { Words } from '../../../words/words.ts'

export function explainRoom(room: NonNullable<ErrorDetails['room']>, words: Words): string {
  const { limit, most, roomAt } = room
  const size = words.bytes(most)
  if (roomAt === null) return words.say('room_never', { size })
  const when = words.moment(roomAt)
  return limit === 'pushes'
    ? words.say('room_pushes', { n: most, when })
    : words.say('room_bytes', { size, when })
}
