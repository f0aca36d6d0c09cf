// How a call to a server fails, told apart by what the person at the terminal can do about it.

export type FailureKind =
  /** Something that trying again does not help. */
  | 'failed'
  /** No such push, or it has expired. */
  | 'gone'
  /** A token or passphrase is missing, wrong, or not enough. */
  | 'refused'
  /** The server cannot be reached or is too busy: later may be better. */
  | 'unavailable'

export class ClientFailure extends Error {
  readonly kind: FailureKind

  constructor(kind: FailureKind, message: string) {
    super(message)
    this.kind = kind
  }
}

/** The server breaks its word or leads astray: nothing that it sent for this can be used, now or later. */
export class UntrueAnswer extends ClientFailure {
  constructor(message: string) {
    super('failed', message)
  }
}

/** The server refuses values that were sent; `fields` holds its words for each. */
export class RefusedFields extends ClientFailure {
  readonly fields: Readonly<Record<string, readonly string[]>>

  constructor(message: string, fields: Record<string, string[]>) {
    super('failed', message)
    this.fields = fields
  }
}
