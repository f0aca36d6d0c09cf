// The progress of a command on a backup: a bar for each of its steps, and an end by signal that tells what became of it.

import type { Progress } from './progress.ts'
import type { Shell } from './shell.ts'

/** `cancelled` is told when a signal ends the command. */
export function createBackupProgress({ startProgress }: Pick<Shell, 'startProgress'>, cancelled: string) {
  let current: { step: string; progress: Progress } = begin('')

  function begin(step: string) {
    return { step, progress: startProgress(step, () => cancelled) }
  }

  function update(step: string, done: number, total: number): void {
    if (step !== current.step) {
      current.progress.stop()
      current = begin(step)
    }
    current.progress.update(done, total)
  }

  /** Signals still end the command as told, and nothing is drawn. */
  const pause = () => {
    current.progress.stop()
    current = begin('')
  }

  return { update, pause, stop: () => current.progress.stop() }
}
