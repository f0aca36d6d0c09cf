// The requests that are made of a bucket, by their names in S3.

import type { Client, SendOptions } from './client.ts'
import { codeIn, isFailure, S3Failure } from './failures.ts'
import { escapeXml, valueIn, valuesIn } from './xml.ts'

export type Part = { number: number; etag: string }

/** An object as a listing tells it, with the store's own time. */
export type Listed = { key: string; modifiedAt: number }

export type ListedUpload = { key: string; uploadId: string; startedAt: number }

/** Where the next page of uploads begins. */
export type UploadMarker = { key: string; uploadId: string }

/** `now`: the time of the store, so that its own times can be compared with it. */
export type Page<T, Next = string> = { items: T[]; next: Next | null; now: number }

/** NaN for a time that the store did not tell. */
export type Dated = { bytes: Uint8Array; modifiedAt: number; now: number }

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

  /** For small objects, with the store's own times. Null when there is no such object. */
  async function readDated(key: string): Promise<Dated | null> {
    const answer = await send({ method: 'GET', key }).catch(nullIfMissing)
    if (answer === null) return null
    const modifiedAt = Date.parse(answer.headers.get('last-modified') ?? '')
    return { bytes: answer.body, modifiedAt, now: timeOf(answer.headers) }
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

  /** Objects whose keys begin with `prefix`, a thousand at a time, in the order of their keys. */
  async function list(prefix: string, after: string | null): Promise<Page<Listed>> {
    const query = { 'list-type': '2', prefix, ...(after === null ? {} : { 'continuation-token': after }) }
    const answer = await send({ method: 'GET', query })
    const text = textOf(answer.body)
    const items = itemsIn(text, 'Contents').map((found) => ({
      key: valueIn(found, 'Key') ?? '',
      modifiedAt: Date.parse(valueIn(found, 'LastModified') ?? ''),
    }))
    const next = valueIn(text, 'NextContinuationToken')
    if (next !== null && next === after) throw endless()
    return { items, next, now: timeOf(answer.headers) }
  }

  /** Unfinished uploads, a thousand at a time. None when the store cannot list them. */
  async function listUploads(
    prefix: string,
    after: UploadMarker | null,
  ): Promise<Page<ListedUpload, UploadMarker>> {
    const from = after === null ? {} : { 'key-marker': after.key, 'upload-id-marker': after.uploadId }
    const answer = await send({ method: 'GET', query: { uploads: '', prefix, ...from } }).catch(
      nullIfUnsupported,
    )
    if (answer === null) return { items: [], next: null, now: Number.NaN }
    const text = textOf(answer.body)
    const items = itemsIn(text, 'Upload').map((found) => ({
      key: valueIn(found, 'Key') ?? '',
      uploadId: valueIn(found, 'UploadId') ?? '',
      startedAt: Date.parse(valueIn(found, 'Initiated') ?? ''),
    }))
    const next = nextUploads(text)
    if (next !== null && next.key === after?.key && next.uploadId === after.uploadId) throw endless()
    return { items, next, now: timeOf(answer.headers) }
  }

  return {
    put,
    read,
    readDated,
    measure,
    remove,
    beginUpload,
    putPart,
    completeUpload,
    abortUpload,
    list,
    listUploads,
  }
}

const BINARY = { 'content-type': 'application/octet-stream' }

function textOf(body: Uint8Array): string {
  return Buffer.from(body).toString('utf8')
}

/** NaN without a date, which makes every comparison fail: then nothing counts as old. */
function timeOf(headers: Headers): number {
  return Date.parse(headers.get('date') ?? '')
}

function itemsIn(text: string, name: string): string[] {
  const items = valuesIn(text, name)
  if (items.length > MOST_ITEMS) throw new S3Failure('refused', 'its listing is longer than a page may be')
  return items
}

function nextUploads(text: string): UploadMarker | null {
  const [key, uploadId] = [valueIn(text, 'NextKeyMarker'), valueIn(text, 'NextUploadIdMarker')]
  const hasMore = valueIn(text, 'IsTruncated') === 'true' && key !== null && key !== ''
  return hasMore ? { key, uploadId: uploadId ?? '' } : null
}

function endless(): S3Failure {
  return new S3Failure('refused', 'its listing begins again where it should go on')
}

function nullIfMissing(cause: unknown): null {
  if (isFailure(cause, 'missing')) return null
  throw cause
}

function nullIfUnsupported(cause: unknown): null {
  if (isFailure(cause, 'unsupported')) return null
  throw cause
}
