// Tells an outage in the log: one line when it begins, with what to do, and one when it has ended, with how long it took. What
// comes and goes quickly is told about once a minute.

import { formatLength, MINUTE, SECOND } from '../domain/time.ts'

export type Outage = {
  /**
   * `why`: sentences for the operator. Each `kind` of cause is told once in an outage. `since`: when it began by
   * performance.now(), if it was noticed later.
   */
  began(kind: string, why: string, since?: number): void
  ended(): void
  isOn(): boolean
}

export type OutageOptions = {
  say: (line: string) => void
  /** Begins the sentence that tells the end; ` after 42 s.` follows. */
  over: string
}

/** An outage that follows another one so soon is told only when it lasts. */
const AGAIN_MS = MINUTE
const LASTS_MS = 5 * SECOND

type Current = { since: number; told: Set<string>; waiting: Map<string, string>; timer: Timer | undefined }

export function createOutage({ say, over }: OutageOptions): Outage {
  let current: Current | null = null
  let toldAt = Number.NEGATIVE_INFINITY

  function began(kind: string, why: string, since?: number): void {
    const now = performance.now()
    current ??= { since: since ?? now, told: new Set(), waiting: new Map(), timer: undefined }
    if (current.told.has(kind) || current.waiting.has(kind)) return
    current.waiting.set(kind, why)
    if (current.told.size > 0 || now - toldAt >= AGAIN_MS) tell(current)
    else current.timer ??= setTimeout(tell, LASTS_MS, current).unref()
  }

  function tell({ told, waiting }: Current): void {
    for (const [kind, why] of waiting) {
      say(why)
      told.add(kind)
    }
    waiting.clear()
    toldAt = performance.now()
  }

  function ended(): void {
    if (current === null) return
    const { since, told, timer } = current
    current = null
    clearTimeout(timer)
    if (told.size > 0) say(`${over} after ${formatLength(performance.now() - since)}.`)
  }

  return { began, ended, isOn: () => current !== null }
}
