// A sign-in by others that failed.

/** `reason` is for the log; pages show no details. */
export class ProviderError extends Error {
  override name = 'ProviderError'
  readonly reason: string

  constructor(reason: string, cause?: unknown) {
    super(reason, cause === undefined ? {} : { cause })
    this.reason = reason
  }
}
