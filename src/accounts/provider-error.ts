// The failure of a sign-in by the provider or the proxy.

import { isDomainError } from '../domain/errors.ts'

/** `reason` is for the log; pages show no details. */
export class ProviderError extends Error {
  override name = 'ProviderError'
  readonly reason: string

  constructor(reason: string, cause?: unknown) {
    super(reason, cause === undefined ? {} : { cause })
    this.reason = reason
  }
}

/** Turns a conflict into this reason, and rethrows any other cause. */
export function conflictAs(reason: string) {
  return (cause: unknown): never => {
    throw isDomainError(cause, 'conflict') ? new ProviderError(reason) : cause
  }
}
