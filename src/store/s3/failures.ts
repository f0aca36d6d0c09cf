// The failures of a bucket: each with a sentence for the operator, and whether to retry.

import { codeOf, reasonOf } from '../../domain/system-errors.ts'
import { valueIn } from './xml.ts'

/**
 * `missing`: the object or upload does not exist. `full`: the store has no space. `unsupported`: it lacks the
 * operation. `failing`: a retry may succeed.
 */
type FailureKind = 'missing' | 'full' | 'refused' | 'failing'

/** The message continues a sentence about the store ("it answers …"), for the operator. */
export class S3Failure extends Error {
  override name = 'S3Failure'
  readonly kind: FailureKind

  constructor(kind: FailureKind, message: string) {
    super(message)
    this.kind = kind
  }
}

export function isFailure(cause: unknown, kind: FailureKind): cause is S3Failure {
  return cause instanceof S3Failure && cause.kind === kind
}

/** The relevant part of an error response. */
type Refusal = { status: number; headers: Headers; body: string; method: string }

/** Returns the error code in a body, if it looks like one: it is shown to the operator. */
export function codeIn(body: string): string | null {
  const code = valueIn(body, 'Code')
  return code === null || CODE.test(code) ? code : 'unknown'
}

const CODE = /^[A-Za-z0-9._-]{1,64}$/

export function explainRefusal({ status, headers, body, method }: Refusal): S3Failure {
  const code = codeIn(body) ?? ''
  const answer = `${status} ${code}`
  const [, kind, words] = MEANINGS.find(([pattern]) => pattern.test(answer)) ?? UNEXPLAINED
  const place = valueIn(body, 'Region') ?? valueIn(body, 'Endpoint') ?? headers.get('location') ?? ''
  const values: Record<string, string> = {
    ...{ method, answer: answer.trim(), code: code || String(status), place: quote(place) },
  }
  return new S3Failure(
    kind,
    words.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? ''),
  )
}

type FailureRule = readonly [answer: RegExp, kind: FailureKind, words: string]

const UNEXPLAINED: FailureRule = [/^/, 'refused', 'it answers {answer} to {method}']

/** Meanings by status and code; the first match wins. */
const MEANINGS: readonly FailureRule[] = [
  [/^507 |(QuotaExceeded|InsufficientStorage|XMinioStorageFull)$/, 'full', 'it has no room ({code})'],
  [/ NoSuch(Key|Upload)$/, 'missing', 'it has no such object'],
  [/^501 | NotImplemented$/, 'refused', 'it does not support this request ({code})'],
  [/^(408|425|429|50[0234]) | (RequestTimeout|SlowDown|OperationAborted)$/, 'failing', 'it answers {answer}'],
  [/ NoSuchBucket$/, 'refused', 'there is no such bucket'],
  [/ InvalidAccessKeyId$/, 'refused', 'it does not know the access key id (ONCEBOX_S3_ACCESS_KEY_ID)'],
  [
    / SignatureDoesNotMatch$/,
    'refused',
    'it says that the secret access key is wrong (ONCEBOX_S3_SECRET_ACCESS_KEY)',
  ],
  // Leave the times out, so that repeated failures have the same text and are logged once.
  [
    / RequestTimeTooSkewed$/,
    'refused',
    'the clock of this machine and the clock of the store differ too much: set both by the same server (NTP)',
  ],
  [/^40[13] /, 'refused', 'it refuses the access keys, or they may not do this ({method}, {code})'],
  [
    /^3| (AuthorizationHeaderMalformed|IllegalLocationConstraintException)$/,
    'refused',
    'the bucket is in another region, or at another endpoint: correct --files-url ({code} {place})',
  ],
]

/** Cleans text from the server for a log: returns one short line of printable characters. */
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

/** Explains a request without a complete answer after `seconds`. */
export function explainBreak(cause: unknown, seconds: number): S3Failure {
  if (cause instanceof S3Failure) return cause
  const isTimeout = cause instanceof Error && cause.name === 'TimeoutError'
  // The last try may have less than a second left.
  const late = seconds < 1 ? 'it did not answer in time' : `it did not answer within ${seconds} s`
  const code = codeOf(cause)
  const words = CERTIFICATE.test(code) ? `${NOT_TRUSTED} (${code})` : (REASONS[code] ?? reasonOf(cause))
  return new S3Failure('failing', isTimeout ? late : words)
}
