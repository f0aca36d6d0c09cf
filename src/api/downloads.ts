// Answers `GET /d/:grant` with a file or a range of it, or with an archive of files, always as an attachment.

import { ANY_TYPE } from '../domain/files.ts'
import { type AnswerHeaders, answerAttachment, answerJson, TEXT } from '../http/answers.ts'
import type { RouteRequest } from '../http/door/router.ts'
import type { Downloads, GrantedDownload } from '../pushes/downloads.ts'
import type { Span } from '../pushes/granted-files.ts'

/** Longer than any single range. A longer header is ignored. */
const MAX_RANGE_CHARACTERS = 100
/** Answers up to this size carry Content-Length; larger ones are streams. */
const WHOLE_BYTES = 1024 * 1024

export function createAnswerDownload({ open }: Downloads) {
  return async ({ exchange: { request, isHead }, params }: RouteRequest): Promise<Response> => {
    const download = await open(params.grant ?? '')
    const { size } = download
    const span = readSpan(request, download)
    if (isHead || span === 'unsatisfiable') await download.close()
    if (span === 'unsatisfiable') {
      const range = { 'content-range': `bytes */${size}`, 'x-file-size': String(size) }
      return answerJson(416, { error: 'The range lies outside of the file.' }, range)
    }
    const { start, end } = span ?? { start: 0, end: size }
    const range = span && { 'content-range': `bytes ${start}-${end - 1}/${size}` }
    const length = isHead && { 'content-length': String(end - start) }
    return answerAttachment(isHead ? null : await bodyOf(download, { start, end }), {
      type: download.contentType === 'text/plain' ? TEXT : download.contentType || ANY_TYPE,
      filename: download.filename,
      status: span === null ? 200 : 206,
      headers: { 'x-file-size': String(size), ...rangesOf(download), ...range, ...length },
    })
  }
}

function rangesOf({ id }: GrantedDownload): AnswerHeaders {
  return id === null ? { 'accept-ranges': 'none' } : { 'accept-ranges': 'bytes', etag: etagOf(id) }
}

async function bodyOf(download: GrantedDownload, span: Span) {
  return span.end - span.start <= WHOLE_BYTES ? readWhole(download, span) : stream(download, span)
}

/**
 * Returns the requested range, or null for the whole file. An archive supports no ranges: each would mean
 * reading it from the start.
 */
function readSpan({ headers }: Request, { id, size }: GrantedDownload): Span | null | 'unsatisfiable' {
  const condition = headers.get('if-range')
  const range = headers.get('range')
  if (id === null || range === null || (condition !== null && condition !== etagOf(id))) return null
  return parseRange(range, size)
}

const etagOf = (id: string) => `"${id}"`

/**
 * Reads a Range header (RFC 9110, 14.1.2). Returns null to ignore it, unless it is a single range of bytes.
 */
function parseRange(header: string, size: number): Span | null | 'unsatisfiable' {
  if (header.length > MAX_RANGE_CHARACTERS) return null
  const match = /^bytes=\s*(?:(\d+)\s*)?-\s*(?:(\d+)\s*)?$/i.exec(header)
  const [, first = '', last = ''] = match ?? []
  if (first === '' && last === '') return null
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1)
  if (first !== '' && last !== '' && Number(last) < Number(first)) return null
  return start < end ? { start, end } : 'unsatisfiable'
}

async function readWhole(download: GrantedDownload, span: Span): Promise<Buffer<ArrayBuffer>> {
  try {
    const chunks: Uint8Array[] = []
    for await (const chunk of download.read(span)) chunks.push(chunk)
    return Buffer.concat(chunks)
  } finally {
    await download.close()
  }
}

/** Streams no faster than the client reads. An error in the middle resets the connection. */
function stream(download: GrantedDownload, span: Span): ReadableStream<Uint8Array> {
  const segments = download.read(span)
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { value, done } = await segments.next()
          if (!done) return controller.enqueue(value)
          controller.close()
          await download.close()
        } catch (cause) {
          await download.close()
          throw cause
        }
      },
      async cancel() {
        await segments.return(undefined)
        await download.close()
      },
    },
    { highWaterMark: 1 },
  )
}
