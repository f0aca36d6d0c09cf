// How often a push was opened, or a request answered: as dots for the eye, as a sentence for screen readers.

import { isUsedUp } from '../../domain/listing.ts'
import { isEndedByTries, isExpired, isLocked, type Push } from '../../domain/push.ts'
import { formatTime } from '../../domain/time.ts'
import type { Words } from '../../words/words.ts'
import type { Children } from './html.ts'
import { sayWhen } from './parts.tsx'

/** Above this number, show a bar instead. */
const MOST_DOTS = 10

type DotsProps = {
  words: Words
  n: number
  filled: number
  /** The text for screen readers; null if the title above says it, including the numbers. */
  sentence: string | null
  /** Whether the first empty dot stands for the viewer's own opening. */
  isNextOwn?: boolean
}

/** Shows `filled` of `n` as dots and as numbers. */
export function Dots({ words, n, filled, sentence, isNextOwn = false }: DotsProps) {
  return (
    <>
      {n > MOST_DOTS ? (
        <progress max={n} value={filled} aria-hidden="true" />
      ) : (
        <span class="pips" aria-hidden="true">
          {Array.from({ length: n }, (_, at) => (
            <i class={at < filled ? 'on' : at === filled && isNextOwn ? 'next' : undefined} />
          ))}
        </span>
      )}
      {sentence !== null && (
        <>
          <span class="visually-hidden">{sentence}</span>
          <span class="numbers" aria-hidden="true">
            {words.say('openings', { opened: isNextOwn ? filled + 1 : filled, n })}
          </span>
        </>
      )}
    </>
  )
}

type OpeningsProps = {
  push: Push
  words: Words
  now: number
  /** The state shown above the dots. Its facts are not repeated below. */
  title?: Children
}

/** How often a push was opened, when last, and how long its link still works. */
export function Openings({ push, words, now, title }: OpeningsProps) {
  const { views, expireAfterViews: n, lastViewedAt } = push
  const seen = { words, now }
  const sentence = sayOpenings(push, words)
  const isUntitled = title === undefined
  return (
    <span class="openings">
      <Dots words={words} n={n} filled={views} sentence={sentence === title ? null : sentence} />
      {lastViewedAt > 0 && <span class="fact">{sayWhen('openings_last', lastViewedAt, seen)}</span>}
      {isUntitled && views === 0 && !isExpired(push, now) && (
        <span class="fact unopened">{words.say('row_waiting')}</span>
      )}
      {(isUntitled || !(isExpired(push, now) || isLocked(push))) && (
        <span class="fact">{endOf(push, seen)}</span>
      )}
    </span>
  )
}

/** How often a push can be opened, for its recipient: the next opening is theirs. */
export function OpeningsLeft({ push, words }: Pick<OpeningsProps, 'push' | 'words'>) {
  const { views, expireAfterViews: n } = push
  return (
    <p class="openings">
      <Dots words={words} n={n} filled={views} sentence={sayOpenings(push, words)} isNextOwn />
      <span class="fact">{words.say('openings_next')}</span>
    </p>
  )
}

/** Returns "Opened 2 of 5 times". */
export function sayOpenings({ views, expireAfterViews: n }: Push, { say }: Words): string {
  return say('state_opened', { opened: views, n })
}

function endOf(push: Push, seen: { words: Words; now: number }): Children {
  const { say } = seen.words
  if (isUsedUp(push)) return say('openings_used')
  if (isLocked(push) && !isExpired(push, seen.now)) return say('state_locked')
  if (isExpired(push, seen.now)) {
    const word = endWordOf(push)
    return word === 'state_time' ? sayWhen('row_expired', push.expiredOn ?? push.expiresAt, seen) : say(word)
  }
  return <TimeLeft at={push.expiresAt} {...seen} />
}

/** Shows "7 days left". */
export function TimeLeft({ at, words, now }: { at: number; words: Words; now: number }) {
  return (
    <time datetime={formatTime(at)} data-relative>
      {words.left(at, now)}
    </time>
  )
}

/** Returns the word for the end of a push that was not used up. */
export function endWordOf(push: Push) {
  if (push.lost) return 'state_lost'
  if (push.deleted) return 'state_ended'
  if (isEndedByTries(push)) return 'state_guessed'
  return 'state_time'
}
