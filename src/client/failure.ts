// Failures of calls to a server, grouped by what the user can do about them, and the reasons why a server
// cannot be reached.

import { codeOf } from '../domain/system-errors.ts'

export type ClientFailureKind =
  /** A retry would fail again. */
  | 'failed'
  /** The push does not exist or has expired. */
  | 'gone'
  /** A token or passphrase is missing, wrong or not sufficient. */
  | 'refused'
  /** No key opens the content, or the key is missing or truncated. */
  | 'unopened'
  /** The server is unreachable or busy; trying later may help. */
  | 'unavailable'

export class ClientFailure extends Error {
  readonly kind: ClientFailureKind

  constructor(kind: ClientFailureKind, message: string) {
    super(message)
    this.kind = kind
  }
}

/** The server's response contradicts itself or is unsafe. Use nothing that was received for the request. */
export class UntrueAnswer extends ClientFailure {
  constructor(message: string) {
    super('failed', message)
  }
}

/** The server refuses some values; `fields` has its messages, by field. */
export class RefusedFields extends ClientFailure {
  readonly fields: Readonly<Record<string, readonly string[]>>

  constructor(message: string, fields: Record<string, string[]>) {
    super('failed', message)
    this.fields = fields
  }
}

const UNKNOWN_CERTIFICATE =
  'its certificate is not signed by an authority that this machine trusts; ' +
  'if the server is yours, name its certificate or authority with --cacert FILE'

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ConnectionRefused: 'nothing listens there',
  ENOTFOUND: 'the name does not exist',
  FailedToOpenSocket: 'the name does not exist or is not reachable',
  ECONNRESET: 'the connection broke off',
  ConnectionClosed: 'the connection broke off',
  TimeoutError: 'it took too long to answer',
  AbortError: 'it took too long to answer',
  Malformed_HTTP_Response: 'it does not answer in HTTP; does its address start with https://?',
  EPROTO: 'it does not use TLS; does its address start with http://?',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not use TLS; does its address start with http://?',
  ResponseHeadersTooLarge: 'its response headers are too large',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_CERTIFICATE,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_CERTIFICATE,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_CERTIFICATE,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_CERTIFICATE,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_CERTIFICATE,
  CERT_UNTRUSTED: UNKNOWN_CERTIFICATE,
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet; is the clock of this machine right?',
}

/** No authority that this computer trusts has signed the server's certificate. Nothing was sent. */
export class UnknownAuthority extends ClientFailure {}

/** The server may have received the request, and its result is unknown. */
export class LostAnswer extends ClientFailure {}

/** Causes that occur before the server receives the request. */
const NEVER_HEARD =
  /^(ECONNREFUSED|ConnectionRefused|ENOTFOUND|FailedToOpenSocket|ERR_SSL_WRONG_VERSION_NUMBER)$|CERT|SIGNATURE/

export function unreachable(server: string, cause: unknown): ClientFailure {
  if (cause instanceof ClientFailure) return cause
  const why = whyOf(cause)
  const message = `Cannot reach ${server}: ${why}${why.endsWith('?') ? '' : '.'}`
  if (REASONS[codeOf(cause)] === UNKNOWN_CERTIFICATE) return new UnknownAuthority('unavailable', message)
  return NEVER_HEARD.test(codeOf(cause))
    ? new ClientFailure('unavailable', message)
    : new LostAnswer('unavailable', message)
}

function whyOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const code = codeOf(cause)
  return REASONS[code] ?? REASONS[cause.name] ?? `the connection failed (${code || cause.name})`
}
