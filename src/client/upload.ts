// Uploads files in a multipart body that is read while it is sent. Unlike browsers, this encoder keeps line
// breaks, because a payload must arrive unchanged.

import { createReadStream } from 'node:fs'
import { presentSystemError } from '../domain/system-errors.ts'
import { ClientFailure } from './failure.ts'
import type { Watch } from './watch.ts'

export type UploadFile = {
  filename: string
  /** The size in bytes; null for a stream of unknown size, which can be read only once. */
  size: number | null
  read: () => AsyncIterable<Uint8Array>
}

type UploadOptions = {
  texts: [name: string, value: string][]
  files: UploadFile[]
  /** A string that does not occur in the content. */
  boundary: string
  onProgress: (sent: number, total: number | null) => void
}

const CHUNK_BYTES = 256 * 1024
const EOL = '\r\n'

/** Builds the request's headers and body. Each call of `body` starts from the beginning. */
export function createUpload(options: UploadOptions) {
  const { boundary, files, onProgress } = options
  const isSentOnce = files.some(({ size }) => size === null)
  const total = isSentOnce ? null : files.reduce((sum, { size }) => sum + (size ?? 0), 0)

  function body(count: Watch['count']): ReadableStream<Uint8Array> {
    const pieces = encode(options)
    let sent = 0
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { done, value } = await pieces.next()
          if (done) return controller.close()
          count(value.bytes.byteLength)
          sent += value.content ? value.bytes.byteLength : 0
          onProgress(sent, total)
          controller.enqueue(value.bytes)
        },
        async cancel() {
          await pieces.return(undefined)
        },
      },
      { highWaterMark: 1 },
    )
  }

  return { headers: { 'content-type': `multipart/form-data; boundary=${boundary}` }, body, isSentOnce }
}

type Piece = { bytes: Uint8Array; content: boolean }

async function* encode({ texts, files, boundary }: UploadOptions): AsyncGenerator<Piece> {
  const frame = (text: string): Piece => ({ bytes: Buffer.from(text), content: false })
  const start = (disposition: string) =>
    `--${boundary}${EOL}Content-Disposition: form-data; ${disposition}${EOL}`
  for (const [name, value] of texts) yield frame(`${start(`name="${name}"`)}${EOL}${value}${EOL}`)
  for (const file of files) {
    const head = start(`name="push[files][]"; ${nameOf(file.filename)}`)
    yield frame(`${head}Content-Type: application/octet-stream${EOL}${EOL}`)
    for await (const bytes of file.read()) yield { bytes, content: true }
    yield frame(EOL)
  }
  yield frame(`--${boundary}--${EOL}`)
}

/** Encodes the name as browsers do. Adds its exact form (RFC 8187) if servers would misread that. */
function nameOf(filename: string): string {
  const plain = filename.replace(/["\r\n]/g, encodeURIComponent)
  const isExact = !/[%"\\\r\n]/.test(filename)
  return isExact ? `filename="${plain}"` : `filename="${plain}"; filename*=UTF-8''${encodeExtended(filename)}`
}

function encodeExtended(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** Builds the upload of a local file. `size`: when the user named the file; a later change is refused. */
export function fileUpload(file: { path: string; filename: string; size: number }): UploadFile {
  return { filename: file.filename, size: file.size, read: () => readPieces(file) }
}

/** Throws ClientFailure when the file cannot be read or its size has changed. */
async function* readPieces({ path, size }: { path: string; size: number }): AsyncGenerator<Uint8Array> {
  let left = size
  try {
    for await (const bytes of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
      left -= bytes.byteLength
      if (left < 0) break
      yield bytes
    }
  } catch (cause) {
    throw new ClientFailure('failed', cause instanceof Error ? presentSystemError(cause) : String(cause))
  }
  if (left !== 0) throw new ClientFailure('failed', `${path} changed while it was being sent.`)
}
