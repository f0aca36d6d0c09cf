// Waiting for what a test expects to happen: at once on a quiet machine, much later on a busy one.

import { isDomainError } from '../../src/domain/errors.ts'

const PATIENCE_MS = 120_000

/** Resolves once it is so, and throws after two minutes. */
export async function waitUntil(isSo: () => boolean | Promise<boolean>, everyMs = 20): Promise<void> {
  const end = performance.now() + PATIENCE_MS
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`waited in vain: ${isSo}`)
    await Bun.sleep(everyMs)
  }
}

/**
 * Asks again, as clients do, while the server is too busy to take the request; it has not stored or counted
 * anything then.
 */
export async function untilTaken(ask: () => Promise<Response>): Promise<Response> {
  const end = performance.now() + PATIENCE_MS
  for (;;) {
    const response = await ask()
    if (response.status !== 503 || performance.now() > end) return response
    await response.arrayBuffer()
    await Bun.sleep(50)
  }
}

const isBusy = (cause: unknown) =>
  isDomainError(cause, 'overloaded') && cause.details.isInDoubt !== true && cause.details.isHeld !== true

/**
 * Does work of a store again that was refused because the database was too busy, unless it may have happened.
 */
export async function untilDone<T>(work: () => Promise<T>): Promise<T> {
  const end = performance.now() + PATIENCE_MS
  for (;;) {
    try {
      return await work()
    } catch (cause) {
      if (!isBusy(cause) || performance.now() > end) throw cause
      await Bun.sleep(50)
    }
  }
}

/** A store whose work is done again like that, in all its rooms. */
export function patient<T extends object>(store: T): T {
  return new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value === 'object' && value !== null) return patient(value)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        const done: unknown = Reflect.apply(value, target, args)
        if (!(done instanceof Promise)) return done
        return done.catch((cause) => {
          if (!isBusy(cause)) throw cause
          return untilDone(() => Reflect.apply(value, target, args))
        })
      }
    },
  })
}
