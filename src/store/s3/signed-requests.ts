// Sends one signed request to the store of the bucket and reads its whole answer, within a time.

import { readUpTo } from '../../domain/bounded-read.ts'
import type { BucketPlace } from '../../domain/bucket-place.ts'
import { explainBreak, explainRefusal, S3Failure } from './failures.ts'

export type S3Credentials = { accessKeyId: string; secretAccessKey: string }

export type S3Request = {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** The object key; absent for requests about the bucket. */
  key?: string
  query?: Readonly<Record<string, string>>
  headers?: Readonly<Record<string, string>>
  body?: Uint8Array<ArrayBuffer>
  /** The maximum size of the answer in bytes. */
  most?: number
}

/** A successful answer. */
export type S3Answer = { headers: Headers; body: Uint8Array }

type SendOnce = (request: S3Request, limitMs: number) => Promise<S3Answer>

/** The default maximum size of an answer. */
const MOST_BYTES = 8 * 1024 * 1024

/** Makes a function that sends one request. It throws S3Failure unless the request succeeds. */
export function createSendOnce(place: BucketPlace, credentials: S3Credentials): SendOnce {
  // The library caches the signing key of the day here, which takes four HMACs to derive.
  const cache = new Map<string, ArrayBuffer>()

  async function sign(request: S3Request) {
    const { method, headers = {}, body } = request
    // Loaded only with a bucket.
    const { AwsV4Signer }: typeof import('aws4fetch') = require('aws4fetch')
    const signer = new AwsV4Signer({
      method,
      url: urlOf(place, request),
      headers: { ...headers, 'x-amz-content-sha256': await sha256(body) },
      ...credentials,
      region: place.region,
      service: 's3',
      cache,
    })
    return signer.sign()
  }

  async function send(request: S3Request, limitMs: number): Promise<S3Answer> {
    const { method, body: sent, most = MOST_BYTES } = request
    const signed = await sign(request)
    signed.headers.set('accept-encoding', 'identity')
    const response = await fetch(signed.url, {
      method,
      headers: signed.headers,
      ...(sent === undefined ? {} : { body: sent }),
      redirect: 'manual',
      // Accept no compression: a small answer could expand to a large one.
      decompress: false,
      signal: AbortSignal.timeout(limitMs),
    })
    const { status, headers, ok, body } = response
    // Read a short body in one call, which takes less memory.
    const isShort = Number(headers.get('content-length') ?? Number.NaN) <= most
    const answer = {
      headers,
      body: body === null || isShort ? await response.bytes() : await readUpTo(body, most, tooLong),
    }
    if (ok) return answer
    throw explainRefusal({ status, headers, body: Buffer.from(answer.body).toString('utf8'), method })
  }

  return (request, limitMs) =>
    send(request, limitMs).catch((cause) => {
      throw explainBreak(cause, Math.round(limitMs / 1000))
    })
}

/** A store that ignores ranges would send whole files, and a hostile one more. */
const tooLong = () =>
  new S3Failure('refused', 'its answers are longer than asked for: it ignores ranges, which are needed')

function urlOf({ endpoint, bucket, isPathStyle }: BucketPlace, { key, query = {} }: S3Request): string {
  const url = new URL(endpoint)
  if (!isPathStyle) url.hostname = `${bucket}.${url.hostname}`
  url.pathname = [...(isPathStyle ? [bucket] : []), ...(key === undefined ? [] : [key])].join('/')
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return url.href
}

/** Hashes a body, so that the store refuses one that was altered on the way. Runs off the main thread. */
async function sha256(body: Uint8Array<ArrayBuffer> = new Uint8Array()): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', body)).toString('hex')
}
