// Sends one signed request to the store of the bucket and reads its whole answer, within a time.

import { AwsV4Signer } from 'aws4fetch'
import type { BucketPlace } from '../../domain/bucket-place.ts'
import { explainBreak, explainRefusal, S3Failure } from './failures.ts'

export type Credentials = { accessKeyId: string; secretAccessKey: string }

export type S3Request = {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Within the bucket; absent for requests about the bucket. */
  key?: string
  query?: Readonly<Record<string, string>>
  headers?: Readonly<Record<string, string>>
  body?: Uint8Array<ArrayBuffer>
  /** Bytes that the answer may have at most. */
  most?: number
}

/** A success. */
export type S3Answer = { headers: Headers; body: Uint8Array }

/** `signal` breaks it off as well. */
export type SendOnce = (request: S3Request, limitMs: number, signal?: AbortSignal) => Promise<S3Answer>

const SERVICE = 's3'

/** Throws S3Failure for everything that is no success. */
export function createSendOnce(place: BucketPlace, credentials: Credentials): SendOnce {
  // The library keeps the key of the day here, which four HMACs make.
  const cache = new Map<string, ArrayBuffer>()

  async function sign({ method, key = '', query = {}, headers = {}, body }: S3Request) {
    const url = urlOf(place, key)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      headers: { ...headers, 'x-amz-content-sha256': await sha256(body) },
      ...credentials,
      region: place.region,
      service: SERVICE,
      cache,
    })
    return signer.sign()
  }

  return async (request, limitMs, signal) => {
    const { method, body } = request
    try {
      const signed = await sign(request)
      signed.headers.set('accept-encoding', 'identity')
      const response = await fetch(signed.url, {
        method,
        headers: signed.headers,
        ...(body === undefined ? {} : { body }),
        redirect: 'manual',
        // A small answer could become a large one.
        decompress: false,
        signal: AbortSignal.any([AbortSignal.timeout(limitMs), ...(signal === undefined ? [] : [signal])]),
      })
      const answer = { headers: response.headers, body: await readBounded(response, request) }
      if (response.ok) return answer
      const text = Buffer.from(answer.body).toString('utf8')
      throw explainRefusal({ status: response.status, headers: response.headers, body: text, method }, place)
    } catch (cause) {
      throw explainBreak(cause, Math.round(limitMs / 1000))
    }
  }
}

/** The answers that are listings and marks are far smaller. */
const MOST_BYTES = 8 * 1024 * 1024

/** Refuses longer answers: a store that ignores ranges would send whole files into memory, a hostile one even more. */
async function readBounded(
  response: Response,
  { method, most = MOST_BYTES }: S3Request,
): Promise<Uint8Array> {
  const { headers, body } = response
  if (method === 'HEAD' || body === null) return response.bytes()
  const announced = headers.get('content-length')
  if (announced !== null && Number(announced) <= most) return response.bytes()
  const bytes = announced === null ? await readUpTo(body, most) : null
  if (bytes !== null) return bytes
  await body.cancel().catch(() => undefined)
  throw new S3Failure('refused', 'its answers are longer than asked for: it ignores ranges, which are needed')
}

/** Null when there are more bytes: leaving the loop breaks the answer off. */
async function readUpTo(body: ReadableStream<Uint8Array>, most: number): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > most) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function urlOf({ endpoint, bucket, isPathStyle }: BucketPlace, key: string): URL {
  const url = new URL(endpoint)
  if (!isPathStyle) url.hostname = `${bucket}.${url.hostname}`
  const path = key === '' ? '' : `/${key}`
  url.pathname = isPathStyle ? `/${bucket}${path}` : path
  return url
}

/** With this the store refuses a body that was altered on its way. It is computed off the main thread. */
async function sha256(body: Uint8Array<ArrayBuffer> = new Uint8Array()): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', body)).toString('hex')
}
