// The state of a push in a few words, in the tone of its meaning.

import { isEnding } from '../../domain/listing.ts'
import { isEndedByTries, isExpired, isLocked, type Push, viewsRemaining } from '../../domain/push.ts'
import type { Words } from '../../words/words.ts'
import type { Tone } from '../frame/chip.tsx'
import type { IconName } from '../frame/icon-files.ts'

/** `isNotable`: says more than the number of views and the time do. */
export type StateText = { tone: Tone; icon: IconName; text: string; isNotable: boolean }

export function describeState(push: Push, { words: { say }, now }: { words: Words; now: number }): StateText {
  if (isExpired(push, now)) {
    const icon = push.lost ? 'history' : 'circle-x'
    return { tone: 'gone', icon, text: say(endOf(push)), isNotable: true }
  }
  if (isLocked(push)) return { tone: 'bad', icon: 'lock', text: say('state_locked'), isNotable: true }
  if (isEnding(push, now)) {
    const key = viewsRemaining(push) === 1 ? 'state_last' : 'state_ending'
    return { tone: 'low', icon: 'hourglass', text: say(key), isNotable: true }
  }
  if (push.views === 0)
    return { tone: 'waiting', icon: 'clock', text: say('state_waiting'), isNotable: false }
  const text = say('state_opened', { n: push.views, of: push.expireAfterViews })
  return { tone: 'good', icon: 'eye', text, isNotable: false }
}

function endOf(push: Push) {
  if (push.lost) return 'state_lost'
  if (push.deleted) return 'state_ended'
  if (isEndedByTries(push)) return 'state_guessed'
  return push.views >= push.expireAfterViews ? 'state_used' : 'state_time'
}
