// Gives a work up when nothing comes back for a while, because a network that swallows packets never says so.

import { type Deadline, deadlineIn } from './deadline.ts'

/** One answer may take `answer` milliseconds; the whole work has until `end`. */
export type Patience = { answer: number; end: Deadline }

/** Nothing came back in time. Its code is like those of Bun for a connection that was lost. */
export class SilenceError extends Error {
  readonly code = 'ERR_POSTGRES_CONNECTION_STALLED'
  /** The time was over for the whole work. */
  readonly isLate: boolean

  constructor(waited: number, isLate: boolean) {
    super(`PostgreSQL did not answer for ${Math.round(waited)} ms`)
    this.isLate = isLate
  }
}

/** A work that was begun in time has at least this long. */
const LEAST_MS = 500

/** Rejects when patience ends. `touch` tells that something is sent. The work itself may then go on. */
export async function watched<T>(
  { answer, end }: Patience,
  work: (touch: () => void) => Promise<T>,
): Promise<T> {
  const { promise: silent, reject } = Promise.withResolvers<never>()
  const own = deadlineIn(Math.max(end.left(), LEAST_MS))
  let timer: Timer | undefined
  let isOver = false
  const touch = () => {
    clearTimeout(timer)
    const wait = Math.min(answer, own.left())
    if (!isOver) timer = setTimeout(() => reject(new SilenceError(wait, wait < answer)), wait)
  }
  touch()
  try {
    return await Promise.race([work(touch), silent])
  } finally {
    isOver = true
    clearTimeout(timer)
  }
}
