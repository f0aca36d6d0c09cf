// The requests that are made of a bucket, by their names in S3.

import type { Client, SendOptions } from './client.ts'
import { codeIn, isFailure, S3Failure } from './failures.ts'
import { escapeXml, valueIn, valuesIn } from './xml.ts'

export type Part = { number: number; etag: string }

export type ListedUpload = { key: string; uploadId: string }

/** `isVersioned`: the bucket keeps the object when it is deleted. */
export type Stored = { isVersioned: boolean }

type Until = Pick<SendOptions, 'by' | 'isFollowUp'>

const LEAST_ANSWER_BYTES = 64 * 1024
/** It becomes a part of URLs. */
const MOST_ID_CHARACTERS = 2048
/** Of a listing, by the rules of S3. */
const MOST_ITEMS = 1000

export type Objects = ReturnType<typeof createObjects>

export function createObjects({ send }: Pick<Client, 'send'>) {
  async function put(key: string, body: Uint8Array<ArrayBuffer>, options: Until = {}): Promise<Stored> {
    const { headers } = await send(
      { method: 'PUT', key, body, headers: BINARY },
      { ...options, bytes: body.length },
    )
    return { isVersioned: (headers.get('x-amz-version-id') ?? 'null') !== 'null' }
  }

  /** The bytes from `start`, at most `length`, and the size of the whole object. Null when there is no such object. */
  async function read(key: string, { start, length }: { start: number; length: number }) {
    const headers = { range: `bytes=${start}-${start + length - 1}` }
    // Refusals are longer than the smallest ranges.
    const most = Math.max(length, LEAST_ANSWER_BYTES)
    const answer = await send({ method: 'GET', key, headers, most }, { bytes: length }).catch(nullIfMissing)
    if (answer === null) return null
    const size = Number(/\/(\d+)$/.exec(answer.headers.get('content-range') ?? '')?.[1])
    if (!Number.isSafeInteger(size)) throw new S3Failure('refused', 'it ignores ranges, which are needed')
    return { bytes: answer.body, size }
  }

  /** Bytes; null when there is no such object. */
  async function measure(key: string, options: Until = {}): Promise<number | null> {
    try {
      const { headers } = await send({ method: 'HEAD', key }, options)
      return Number(headers.get('content-length'))
    } catch (cause) {
      if (!isFailure(cause, 'missing')) throw cause
      // An answer to HEAD cannot say what is missing: the object, or the whole bucket.
      return (await read(key, { start: 0, length: 1 }))?.size ?? null
    }
  }

  /** Does nothing when there is no such object. */
  async function remove(key: string): Promise<void> {
    await send({ method: 'DELETE', key }).catch(nullIfMissing)
  }

  async function beginUpload(key: string): Promise<string> {
    const { body } = await send({ method: 'POST', key, query: { uploads: '' }, headers: BINARY })
    const uploadId = valueIn(textOf(body), 'UploadId')
    if (uploadId === null || uploadId === '' || uploadId.length > MOST_ID_CHARACTERS)
      throw new S3Failure('refused', 'it does not answer as an S3-compatible store')
    return uploadId
  }

  type Place = { key: string; uploadId: string }

  async function putPart(
    { key, uploadId }: Place,
    number: number,
    body: Uint8Array<ArrayBuffer>,
    options: Until = {},
  ) {
    const query = { partNumber: String(number), uploadId }
    const { headers } = await send({ method: 'PUT', key, query, body }, { ...options, bytes: body.length })
    return { number, etag: headers.get('etag') ?? '' }
  }

  /** A success may still hold an error, because a store may begin its answer before it has joined the parts. */
  async function completeUpload({ key, uploadId }: Place, parts: readonly Part[], options: SendOptions) {
    const xml = parts.map(
      ({ number, etag }) => `<Part><PartNumber>${number}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
    )
    const body = Buffer.from(`<CompleteMultipartUpload>${xml.join('')}</CompleteMultipartUpload>`)
    const headers = { 'content-type': 'application/xml' }
    const answer = await send({ method: 'POST', key, query: { uploadId }, body, headers }, options)
    const code = codeIn(textOf(answer.body))
    if (code !== null) throw new S3Failure('failing', `it could not join the parts of a file (${code})`)
  }

  async function abortUpload({ key, uploadId }: Place): Promise<void> {
    const aborted = send({ method: 'DELETE', key, query: { uploadId } }, { isFollowUp: true })
    await aborted.catch(nullIfMissing)
  }

  /** The first thousand keys that begin with `prefix`. */
  async function listKeys(prefix: string): Promise<string[]> {
    const { body } = await send({ method: 'GET', query: { 'list-type': '2', prefix } })
    return itemsIn(textOf(body), 'Contents').map((found) => valueIn(found, 'Key') ?? '')
  }

  /** The first thousand unfinished uploads whose keys begin with `prefix`. None when the store cannot list them. */
  async function listUploads(prefix: string): Promise<ListedUpload[]> {
    const answer = await send({ method: 'GET', query: { uploads: '', prefix } }).catch(nullIfUnsupported)
    if (answer === null) return []
    return itemsIn(textOf(answer.body), 'Upload').map((found) => ({
      key: valueIn(found, 'Key') ?? '',
      uploadId: valueIn(found, 'UploadId') ?? '',
    }))
  }

  return {
    put,
    read,
    measure,
    remove,
    beginUpload,
    putPart,
    completeUpload,
    abortUpload,
    listKeys,
    listUploads,
  }
}

const BINARY = { 'content-type': 'application/octet-stream' }

function textOf(body: Uint8Array): string {
  return Buffer.from(body).toString('utf8')
}

function itemsIn(text: string, name: string): string[] {
  const items = valuesIn(text, name)
  if (items.length > MOST_ITEMS) throw new S3Failure('refused', 'its listing is longer than a page may be')
  return items
}

function nullIfMissing(cause: unknown): null {
  if (isFailure(cause, 'missing')) return null
  throw cause
}

function nullIfUnsupported(cause: unknown): null {
  if (isFailure(cause, 'unsupported')) return null
  throw cause
}
