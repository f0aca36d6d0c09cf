// Answers `GET /d/:grant` with a file or a range of it, or with an archive of files, always as an attachment.

import { ANY_TYPE } from '../domain/files.ts'
import { type AnswerHeaders, type Attachment, answerAttachment, answerJson, TEXT } from '../http/answers.ts'
import type { Asked } from '../http/door/router.ts'
import type { Download, Downloads } from '../pushes/downloads.ts'
import type { Span } from '../pushes/granted-files.ts'

/** More than a single range needs. A longer header is ignored. */
const MAX_RANGE_CHARACTERS = 100
/** Answers up to this size carry Content-Length; larger ones are streams. */
const WHOLE_BYTES = 1024 * 1024

export function createAnswerDownload({ open }: Downloads) {
  return async ({ exchange: { request, isHead }, params }: Asked): Promise<Response> => {
    const download = await open(params.grant ?? '')
    const span = readSpan(request, download)
    if (isHead || span === 'unsatisfiable') await download.close()
    if (span === 'unsatisfiable') {
      const range = { 'content-range': `bytes */${download.size}`, 'x-file-size': String(download.size) }
      return answerJson(416, { error: 'The range lies outside of the file.' }, range)
    }
    return isHead ? answerHead({ download, span }) : answerSpan({ download, span })
  }
}

type Part = { download: Download; span: Span | null }

function answerHead(part: Part): Response {
  const { start, end, ...attachment } = describePart(part)
  const headers = { ...attachment.headers, 'content-length': String(end - start) }
  return answerAttachment(null, { ...attachment, headers })
}

async function answerSpan(part: Part): Promise<Response> {
  const { download } = part
  const { start, end, ...attachment } = describePart(part)
  const isSmall = end - start <= WHOLE_BYTES
  const body = isSmall ? await readWhole(download, { start, end }) : stream(download, { start, end })
  return answerAttachment(body, attachment)
}

function describePart({ download, span }: Part) {
  const attachment = attachmentOf(download)
  if (span === null) return { ...attachment, start: 0, end: download.size }
  const range = { 'content-range': `bytes ${span.start}-${span.end - 1}/${download.size}` }
  return { ...attachment, status: 206, headers: { ...attachment.headers, ...range }, ...span }
}

/** Null for the whole. An archive has no ranges: it would have to be read from its start each time. */
function readSpan({ headers }: Request, { id, size }: Download): Span | null | 'unsatisfiable' {
  const condition = headers.get('if-range')
  const range = headers.get('range')
  if (id === null || range === null || (condition !== null && condition !== etagOf(id))) return null
  return parseRange(range, size)
}

const etagOf = (id: string) => `"${id}"`

/** Reads a Range header (RFC 9110, 14.1.2). Null for anything but a single range of bytes: it is ignored. */
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

function attachmentOf({
  id,
  filename,
  contentType,
  size,
}: Download): Attachment & { headers: AnswerHeaders } {
  const ranges = id === null ? { 'accept-ranges': 'none' } : { 'accept-ranges': 'bytes', etag: etagOf(id) }
  return {
    type: contentType === 'text/plain' ? TEXT : contentType || ANY_TYPE,
    filename,
    headers: { 'x-file-size': String(size), ...ranges },
  }
}

async function readWhole(download: Download, span: Span): Promise<Buffer<ArrayBuffer>> {
  try {
    const chunks: Uint8Array[] = []
    for await (const chunk of download.read(span)) chunks.push(chunk)
    return Buffer.concat(chunks)
  } finally {
    await download.close()
  }
}

/** Reads no faster than the client does. An error in the middle resets the connection. */
function stream(download: Download, span: Span): ReadableStream<Uint8Array> {
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
