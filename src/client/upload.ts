// Files on their way to a server: a multipart body that is read as it is sent.
//
// Form encoders turn line breaks into CRLF, as browsers do; a payload has to arrive as it is, so this one does not.

import { open } from 'node:fs/promises'
import { presentSystemError } from '../domain/system-errors.ts'
import { ClientFailure } from './failure.ts'
import type { Watch } from './watch.ts'

export type UploadFile = {
  filename: string
  /** Bytes; null when nobody knows before the end, and then it is read once. */
  size: number | null
  read: () => AsyncIterable<Uint8Array>
}

export type UploadOptions = {
  texts: [name: string, value: string][]
  files: UploadFile[]
  /** Told apart from everything that is sent. */
  boundary: string
  onProgress: (sent: number, total: number | null) => void
}

const CHUNK_BYTES = 256 * 1024
const EOL = '\r\n'

/** Headers and body of the request; each call of `body` starts anew. */
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

/** As browsers write it; exactly behind it where that alone would be read as another name (RFC 8187). */
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

/** A file of this machine, as large as it was when it was chosen. */
export function fileUpload(file: { path: string; filename: string; size: number }): UploadFile {
  return { filename: file.filename, size: file.size, read: () => readPieces(file) }
}

/** Throws ClientFailure when the file is not what it was when its size was told, or cannot be read. */
async function* readPieces({ path, size }: { path: string; size: number }): AsyncGenerator<Uint8Array> {
  const file = await open(path, 'r').catch(unreadable)
  let left = size
  try {
    for (;;) {
      const { bytesRead, buffer } = await file
        .read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES)
        .catch(unreadable)
      left -= bytesRead
      if (left < 0 || (bytesRead === 0 && left > 0)) {
        throw new ClientFailure('failed', `${path} changed while it was being sent.`)
      }
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}

function unreadable(cause: Error): never {
  throw new ClientFailure('failed', presentSystemError(cause))
}
