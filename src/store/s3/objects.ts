// The requests that are made of a bucket, by their names in S3.

import type { Send } from './client.ts'
import { codeIn, isFailure, S3Failure } from './failures.ts'
import type { S3Answer } from './signed-requests.ts'
import { valueIn } from './xml.ts'

export type Part = { number: number; etag: string }

/** An unfinished upload in parts. */
export type PartUpload = { key: string; uploadId: string }

/** `isVersioned`: the bucket keeps the object when it is deleted. */
export type Stored = { isVersioned: boolean }

const LEAST_ANSWER_BYTES = 64 * 1024
/** The maximum length of an upload id, which becomes part of URLs. */
const MOST_ID_CHARACTERS = 2048
/** How many times faster a store joins parts by copying than it receives them. */
const COPIED_PER_SENT = 16

export type Objects = ReturnType<typeof createObjects>

/** Makes the requests. All throw S3Failure. */
export function createObjects(send: Send) {
  function put(key: string, body: Uint8Array<ArrayBuffer>): Promise<Stored> {
    return send({ method: 'PUT', key, body, headers: BINARY }, body.length, ({ headers }) => ({
      isVersioned: (headers.get('x-amz-version-id') ?? 'null') !== 'null',
    }))
  }

  /**
   * Reads at most `length` bytes from `start`, and the size of the object. Returns null when it does not
   * exist.
   */
  function read(key: string, { start, length }: { start: number; length: number }) {
    const headers = { range: `bytes=${start}-${start + length - 1}` }
    // Refusals are longer than the smallest ranges.
    const most = Math.max(length, LEAST_ANSWER_BYTES)
    const readPart = (answer: S3Answer) => {
      const found = Number(/\/(\d+)$/.exec(answer.headers.get('content-range') ?? '')?.[1])
      if (!Number.isSafeInteger(found)) throw new S3Failure('refused', 'it ignores ranges, which are needed')
      if (answer.body.length !== Math.min(length, found - start))
        throw new S3Failure('failing', 'it answered with fewer bytes than it has')
      return { bytes: answer.body, size: found }
    }
    return send({ method: 'GET', key, headers, most }, length, readPart).catch(nullIfMissing)
  }

  /**
   * Returns the size of an object in bytes; null if it does not exist. Does not use HEAD, whose answer cannot
   * tell a missing object from a missing bucket.
   */
  async function measure(key: string): Promise<number | null> {
    return (await read(key, START))?.size ?? null
  }

  /** Deletes an object. Does nothing if it does not exist. */
  async function remove(key: string): Promise<void> {
    await send({ method: 'DELETE', key }, 0, () => null).catch(nullIfMissing)
  }

  function beginUpload(key: string): Promise<PartUpload> {
    return send({ method: 'POST', key, query: { uploads: '' }, headers: BINARY }, 0, ({ body }) => {
      const uploadId = valueIn(textOf(body), 'UploadId') ?? ''
      if (uploadId === '' || uploadId.length > MOST_ID_CHARACTERS)
        throw new S3Failure('refused', 'it does not answer as an S3-compatible store')
      return { key, uploadId }
    })
  }

  function putPart(
    { key, uploadId }: PartUpload,
    number: number,
    body: Uint8Array<ArrayBuffer>,
  ): Promise<Part> {
    const query = { partNumber: String(number), uploadId }
    return send({ method: 'PUT', key, query, body }, body.length, ({ headers }) => ({
      number,
      etag: headers.get('etag') ?? '',
    }))
  }

  /**
   * Joins the parts. Does nothing if the upload does not exist, because an earlier try may have succeeded.
   */
  async function completeUpload({ key, uploadId }: PartUpload, parts: readonly Part[], size: number) {
    const xml = parts.map(
      ({ number, etag }) =>
        `<Part><PartNumber>${number}</PartNumber><ETag>${Bun.escapeHTML(etag)}</ETag></Part>`,
    )
    const body = Buffer.from(`<CompleteMultipartUpload>${xml.join('')}</CompleteMultipartUpload>`)
    const headers = { 'content-type': 'application/xml' }
    const request = { method: 'POST', key, query: { uploadId }, body, headers } as const
    await send(request, size / COPIED_PER_SENT, requireNoError).catch(nullIfMissing)
  }

  /** Aborts an upload. Does nothing if it does not exist. */
  async function abortUpload({ key, uploadId }: PartUpload): Promise<void> {
    await send({ method: 'DELETE', key, query: { uploadId } }, 0, () => null).catch(nullIfMissing)
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
  }
}

const BINARY = { 'content-type': 'application/octet-stream' }
const START = { start: 0, length: 2 }

function textOf(body: Uint8Array): string {
  return Buffer.from(body).toString('utf8')
}

/** Throws for an error in a successful answer: a store may begin to answer before it has joined the parts. */
function requireNoError({ body }: S3Answer): void {
  const code = codeIn(textOf(body))
  if (code !== null) throw new S3Failure('failing', `it could not join the parts of a file (${code})`)
}

function nullIfMissing(cause: unknown): null {
  if (isFailure(cause, 'missing')) return null
  throw cause
}
