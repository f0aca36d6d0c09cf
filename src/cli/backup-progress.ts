// The progress of a command that reads a backup: a bar while its bytes come, then a line now and then for its pushes. A signal
// ends the command, and tells what became of it.

import type { Shell } from './shell.ts'

/** Less time needs no progress. */
const QUIET_MS = 1_000
const LINE_MS = 2_000

/** The step that counts bytes. */
const READING = 'reading'

/** `cancelled` is told when a signal ends the command. */
export function createBackupProgress(
  { startProgress, say }: Pick<Shell, 'startProgress' | 'say'>,
  cancelled: string,
) {
  const begun = performance.now()
  let bar = startProgress('Reading', () => cancelled)
  let toldAt = begun

  function update(step: string, done: number, total: number): void {
    const now = performance.now()
    if (step === READING) {
      if (now - begun > QUIET_MS) bar.update(done, total)
      return
    }
    if (now - toldAt < LINE_MS) return
    clear()
    toldAt = now
    say(`… ${step}: ${done} of ${total} pushes`)
  }

  /** Takes the bar from the screen. Signals still end the command as told. */
  function clear(): void {
    bar.stop()
    bar = startProgress('', () => cancelled)
  }

  return { update, clear, stop: () => bar.stop() }
}
