// The progress of a move: a line now and then for its rows, and a bar while the bytes of files pass.

import type { MoveStep } from '../app/moving/wish.ts'
import { formatSize } from './format.ts'
import type { Shell } from './shell.ts'

/** Less time needs no progress. */
const QUIET_MS = 1_000
const LINE_MS = 2_000

const CANCELLED = 'stopped. The source still works, and the same command goes on where this one stopped'

const WORDS: Record<Exclude<MoveStep, 'files'>, string> = {
  reading: 'reading the source',
  copying: 'copying',
  comparing: 'comparing',
}

export function createMoveProgress({
  startProgress,
  say,
  isTerminal,
}: Pick<Shell, 'startProgress' | 'say' | 'isTerminal'>) {
  const begun = performance.now()
  let bar = startProgress('Files', () => CANCELLED)
  let toldAt = begun

  function update(step: MoveStep, done: number, total: number): void {
    const now = performance.now()
    if (step === 'files' && isTerminal) {
      if (now - begun > QUIET_MS) bar.update(Math.min(done, total), total)
      return
    }
    if (now - toldAt < LINE_MS) return
    clear()
    toldAt = now
    if (step === 'files') say(`… files: ${formatSize(done)} of ${formatSize(total)}`)
    else say(`… ${WORDS[step]}: ${done} of ${total} pushes`)
  }

  /** Takes the bar from the screen. Signals still end the command as told. */
  function clear(): void {
    bar.stop()
    bar = startProgress('Files', () => CANCELLED)
  }

  return { update, clear, stop: () => bar.stop() }
}
