// Failures of calls to a server, grouped by what the user can do about them.

export type FailureKind =
  /** Trying again does not help. */
  | 'failed'
  /** The push does not exist or has expired. */
  | 'gone'
  /** A token or passphrase is missing, wrong or not sufficient. */
  | 'refused'
  /** The server is unreachable or busy; trying later may help. */
  | 'unavailable'

export class ClientFailure extends Error {
  readonly kind: FailureKind

  constructor(kind: FailureKind, message: string) {
    super(message)
    this.kind = kind
  }
}

/** The server's response contradicts itself or is unsafe. Nothing received for the request may be used. */
export class UntrueAnswer extends ClientFailure {
  constructor(message: string) {
    super('failed', message)
  }
}

/** The server refuses some values; `fields` has its messages for each field. */
export class RefusedFields extends ClientFailure {
  readonly fields: Readonly<Record<string, readonly string[]>>

  constructor(message: string, fields: Record<string, string[]>) {
    super('failed', message)
    this.fields = fields
  }
}
