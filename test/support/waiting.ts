// Waits for an expected condition: it is met at once on an idle machine, much later on a busy one.

import { isDomainError } from '../../src/domain/errors.ts'

const PATIENCE_MS = 120_000

/** Resolves once the condition holds. Throws after two minutes. */
export async function waitUntil(isSo: () => boolean | Promise<boolean>, everyMs = 20): Promise<void> {
  const end = performance.now() + PATIENCE_MS
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`waited in vain: ${isSo}`)
    await Bun.sleep(everyMs)
  }
}

/** Retries while the server answers that it is too busy, because then it has stored and counted nothing. */
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
 * Retries a store operation that was refused because the database was busy, unless its outcome is unknown.
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

/** Wraps a store so that all its operations are retried in this way. */
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
