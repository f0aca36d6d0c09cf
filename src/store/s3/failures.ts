// What can go wrong at the store of the bucket: each failure with a sentence for the operator, and whether to try again.

import { codeOf, reasonOf } from '../../domain/system-errors.ts'
import { valueIn } from './xml.ts'

/** `missing`: there is no such object or upload. `full`: the store has no room. `unsupported`: it lacks the operation. */
export type FailureKind = 'missing' | 'full' | 'unsupported' | 'refused' | 'failing'

/** The message continues a sentence about the store ("it answers …"), for the operator. */
export class S3Failure extends Error {
  override name = 'S3Failure'
  readonly kind: FailureKind
  /** Whether the same request may succeed a moment later. */
  readonly isPassing: boolean

  constructor(kind: FailureKind, message: string, { isPassing = false } = {}) {
    super(message)
    this.kind = kind
    this.isPassing = isPassing
  }
}

export function isFailure(cause: unknown, kind: FailureKind): cause is S3Failure {
  return cause instanceof S3Failure && cause.kind === kind
}

/** An answer that is no success, as far as it matters here. */
export type Refusal = { status: number; headers: Headers; body: string; method: string }

/** The code of an error, if it looks like one: it is shown to the operator. */
export function codeIn(body: string): string | null {
  const code = valueIn(body, 'Code')
  return code === null || CODE.test(code) ? code : 'unknown'
}

const CODE = /^[A-Za-z0-9._-]{1,64}$/

const FULL =
  /^(QuotaExceeded|InsufficientStorage|XMinioStorageFull|XMinioAdminBucketQuotaExceeded|AccountQuotaExceeded)$/
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504])
const PASSING_CODES = new Set(['RequestTimeout', 'SlowDown', 'OperationAborted'])

export function explainRefusal(refusal: Refusal): S3Failure {
  const { status, body } = refusal
  const code = codeIn(body) ?? ''
  if (status === 507 || FULL.test(code)) return new S3Failure('full', `it has no room (${code || status})`)
  if (code === 'NoSuchKey' || code === 'NoSuchUpload')
    return new S3Failure('missing', 'it has no such object')
  if (status === 501 || code === 'NotImplemented')
    return new S3Failure('unsupported', `it does not support this request (${code || status})`)
  if (PASSING.has(status) || PASSING_CODES.has(code))
    return new S3Failure('failing', `it answers ${status} ${code}`.trim(), { isPassing: true })
  return new S3Failure('refused', WORDS[code] ?? explainStatus(refusal, code))
}

const WORDS: Record<string, string> = {
  NoSuchBucket: 'there is no such bucket',
  InvalidAccessKeyId: 'it does not know the access key id (ONCEBOX_S3_ACCESS_KEY_ID)',
  SignatureDoesNotMatch: 'it says that the secret access key is wrong (ONCEBOX_S3_SECRET_ACCESS_KEY)',
  // Without the times, so that the log has the same words once.
  RequestTimeTooSkewed:
    'the clock of this machine and the clock of the store differ too much: set both by the same server (NTP)',
}
const ELSEWHERE = new Set(['AuthorizationHeaderMalformed', 'IllegalLocationConstraintException'])

function explainStatus({ status, headers, body, method }: Refusal, code: string): string {
  if (status === 401 || status === 403)
    return `it refuses the access keys, or they may not do this (${method}, ${code || status})`
  if ((status < 300 || status >= 400) && !ELSEWHERE.has(code))
    return `it answers ${status} ${code} to ${method}`.replace('  ', ' ')
  const told = valueIn(body, 'Region') ?? valueIn(body, 'Endpoint') ?? headers.get('location') ?? ''
  return `the bucket is in another region, or at another endpoint: correct --files-url (${code || status} ${quote(told)})`
}

/** What a store says of itself, for a log: one short line of printable characters. */
function quote(words: string): string {
  return words.replace(/[^\x20-\x7e]/g, '?').slice(0, 200)
}

const CERTIFICATE = /CERT|SIGNATURE/
const NOT_TRUSTED =
  'its certificate is not trusted here (name the authority in NODE_EXTRA_CA_CERTS), for another name than that of endpoint= in ' +
  '--files-url, or has lapsed'
const REASONS: Record<string, string> = {
  ConnectionRefused: 'nothing listens there',
  ECONNREFUSED: 'nothing listens there',
  ConnectionClosed: 'it closed the connection',
  ECONNRESET: 'it closed the connection',
  FailedToOpenSocket: 'the connection cannot be opened',
  ENOTFOUND: 'its name has no address',
  DNSException: 'its name has no address',
  EPROTO: 'it does not speak TLS on this port (https:// of endpoint= in --files-url)',
}

/** A request that got no whole answer. `seconds` is how long it was waited for. */
export function explainBreak(cause: unknown, seconds: number): S3Failure {
  if (cause instanceof S3Failure) return cause
  const isTimeout = cause instanceof Error && cause.name === 'TimeoutError'
  // What is left for the last try may be less than a second.
  const late = seconds < 1 ? 'it did not answer in time' : `it did not answer within ${seconds} s`
  const code = codeOf(cause)
  const words = CERTIFICATE.test(code) ? `${NOT_TRUSTED} (${code})` : (REASONS[code] ?? reasonOf(cause))
  return new S3Failure('failing', isTimeout ? late : words, { isPassing: true })
}
