// Timers that a test moves, so that seconds of waiting take milliseconds: call jest.useFakeTimers() before,
// and jest.useRealTimers() after the test. They move performance.now() too. Whatever waits for a moved timer
// when real time comes back waits for ever, so a store that lives in moved time is closed in it.

import { jest } from 'bun:test'
import { stat } from 'node:fs/promises'

const STEP_MS = 50

/**
 * Runs the timers that are due within `ms`, a step at a time, and leaves a moment for the work that they
 * start.
 */
export async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += STEP_MS) {
    jest.advanceTimersByTime(Math.min(STEP_MS, ms - passed))
    // Comes back from the thread pool, after whatever was sent there before.
    for (let turn = 0; turn < 3; turn += 1) await stat('.')
  }
}

/** Moves the timers until the work that waits for some of them is done. */
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
 * Waits for what a thread or another process does in real time. It may have to be asked again, so the timers
 * go on slowly.
 */
export async function awaitOthers(isDone: () => boolean): Promise<void> {
  for (let turn = 0; turn < 2_000 && !isDone(); turn += 1) {
    await pass(STEP_MS)
    for (let wait = 0; wait < 50; wait += 1) await stat('.')
  }
}
