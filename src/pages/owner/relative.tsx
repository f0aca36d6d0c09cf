// Times as distances from now: "3 min. ago", "in 6 days". The exact time is in the element, where a script makes it a tooltip.

import { formatTime } from '../../domain/time.ts'
import type { WordKey, Words } from '../../words/words.ts'

type Seen = { words: Words; now: number }

export function Relative({ at, words, now }: Seen & { at: number }) {
  return (
    <time datetime={formatTime(at)} data-relative>
      {words.relative(at, now)}
    </time>
  )
}

/** A text with `{when}` in it. */
export function sayWhen(key: WordKey, at: number, { words, now }: Seen) {
  const [before, after] = words.say(key).split('{when}')
  return (
    <>
      {before}
      <Relative at={at} words={words} now={now} />
      {after}
    </>
  )
}
