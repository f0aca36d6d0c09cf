// Finds the end of an HTTP/1.1 response in a buffer. Implements the part of RFC 9112 that a client of GET and
// POST needs.

const HEAD_END = Buffer.from('\r\n\r\n')
const LINE_END = Buffer.from('\r\n')
const CONTENT_LENGTH = /\r\ncontent-length:[ \t]*(\d+)/i
const CHUNKED = /\r\ntransfer-encoding:[^\r]*chunked/i

export interface Answer {
  readonly status: number
  readonly body: Buffer
  /** The length of the response in bytes. */
  readonly length: number
}

/**
 * Returns the response at the start of `bytes`, or undefined while it is incomplete. Throws if it is not
 * HTTP/1.1.
 */
export function readAnswer(bytes: Buffer): Answer | undefined {
  const headEnd = bytes.indexOf(HEAD_END)
  if (headEnd < 0) return undefined
  const head = bytes.toString('latin1', 0, headEnd)
  const status = Number(head.slice(9, 12))
  if (!head.startsWith('HTTP/1.1 ') || !(status >= 200))
    throw new Error(`not an answer: ${head.slice(0, 40)}`)

  const start = headEnd + HEAD_END.length
  const length = CONTENT_LENGTH.exec(head)?.[1]
  if (length !== undefined) {
    const end = start + Number(length)
    return bytes.length < end ? undefined : { status, body: bytes.subarray(start, end), length: end }
  }
  if (CHUNKED.test(head)) return readChunks({ bytes, start, status })
  if (status === 204 || status === 304) return { status, body: bytes.subarray(start, start), length: start }
  throw new Error('an answer without a length')
}

function readChunks(from: { bytes: Buffer; start: number; status: number }): Answer | undefined {
  const { bytes, status } = from
  const chunks: Buffer[] = []
  let at = from.start
  while (true) {
    const lineEnd = bytes.indexOf(LINE_END, at)
    if (lineEnd < 0) return undefined
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    if (Number.isNaN(size)) throw new Error('a chunk without a size')
    const start = lineEnd + LINE_END.length
    if (bytes.length < start + size + LINE_END.length) return undefined
    // Trailers are not supported. No server here sends any, and they would be reported as excess bytes.
    if (size === 0) return { status, body: Buffer.concat(chunks), length: start + LINE_END.length }
    chunks.push(bytes.subarray(start, start + size))
    at = start + size + LINE_END.length
  }
}
