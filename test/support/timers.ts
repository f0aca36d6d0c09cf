// Fake timers, which turn seconds of waiting into milliseconds: call jest.useFakeTimers() before the test,
// and jest.useRealTimers() after it. They move performance.now() too. A fake timer that is pending when real
// timers return never fires, so close a store before that if it was opened under fake timers.

import { jest } from 'bun:test'
import { stat } from 'node:fs/promises'

const STEP_MS = 50

/**
 * Runs the timers that are due within `ms`, a step at a time, and waits a moment for the tasks that they
 * start.
 */
export async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += STEP_MS) {
    jest.advanceTimersByTime(Math.min(STEP_MS, ms - passed))
    // Waits for the thread pool, which runs this after the tasks queued before.
    for (let turn = 0; turn < 3; turn += 1) await stat('.')
  }
}

/** Advances the timers until the promise settles. */
export async function passUntil<T>(work: Promise<T>): Promise<T> {
  const state = { isDone: false }
  const settled = () => {
    state.isDone = true
  }
  work.then(settled, settled)
  while (!state.isDone) await pass(STEP_MS)
  return work
}

/**
 * Waits for a thread or another process in real time. The code may have to retry, so the timers advance
 * slowly.
 */
export async function awaitOthers(isDone: () => boolean): Promise<void> {
  for (let turn = 0; turn < 2_000 && !isDone(); turn += 1) {
    await pass(STEP_MS)
    for (let wait = 0; wait < 50; wait += 1) await stat('.')
  }
}
