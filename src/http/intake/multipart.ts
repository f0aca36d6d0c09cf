// Reads a multipart body part by part while it arrives (RFC 7578). A part with a file name is a file, any other part is UTF-8 text.

import { DomainError, type SizeLimit } from '../../domain/errors.ts'
import { tooLarge } from './body.ts'
import { MAX_FIELD_NAME, MAX_FIELDS } from './members.ts'
import { type PartHead, parametersOf, readPartHead } from './part-head.ts'

export type FilePart = { filename: string; contentType: string; content: AsyncIterable<Uint8Array> }

export type MultipartOptions = {
  contentType: string
  /** Bytes of all text parts together. */
  maxTextBytes: number
  /** The setting behind `maxTextBytes`; null if there is none. */
  limit: SizeLimit | null
  /** Reserves memory for received text. Throws `overloaded` if there is no room. */
  take: (bytes: number) => void
  /** Reads the content to its end or throws. Its result becomes the value of the part. */
  onFile: (file: FilePart) => Promise<unknown>
  /** Called after each part has been read, even if a later part fails. */
  onPart?: (name: string, value: unknown) => void
}

type Part = { name: string; value: unknown }

/** RFC 2046 allows a boundary 70 characters. */
const MAX_CONTENT_TYPE = 200
const MAX_HEAD_BYTES = 16 * 1024
/** The largest piece of a content that is handed on at once. */
const PIECE_BYTES = 256 * 1024
/** Bytes before, between and after the contents of the parts. */
const MAX_OUTSIDE_BYTES = 1024 * 1024

/** Resolves to the parts in their order. Throws `malformed`, `too_large`, and the errors of `body`, `take` and `onFile`. */
export async function readMultipart(
  body: AsyncIterable<Uint8Array>,
  options: MultipartOptions,
): Promise<Part[]> {
  const boundary = boundaryIn(options.contentType)
  const chunks = body[Symbol.asyncIterator]()
  const { nextHead, nextPiece } = createReader(chunks, boundary)
  const readText = createTextReader(options)
  const parts: Part[] = []
  async function* content(): AsyncGenerator<Uint8Array> {
    for (let piece = await nextPiece(); piece !== null; piece = await nextPiece()) yield piece
  }
  try {
    for (let head = await nextHead(); head !== null; head = await nextHead()) {
      if (parts.length === MAX_FIELDS) throw malformed(`has more than ${MAX_FIELDS} parts`)
      const { name, filename, contentType } = requireHead(head)
      // Names stay in memory until the request is answered, like texts.
      options.take(name.length + (filename?.length ?? 0))
      const value =
        filename === null
          ? await readText(content())
          : await readFile({ filename, contentType, content: content() }, options)
      options.onPart?.(name, value)
      parts.push({ name, value })
    }
    return parts
  } finally {
    chunks.return?.().catch(() => undefined)
  }
}

/** Throws `malformed`, and `unsupported_type` for another type. */
function boundaryIn(contentType: string): string {
  if (contentType.length > MAX_CONTENT_TYPE)
    throw malformed(`has a Content-Type longer than ${MAX_CONTENT_TYPE} characters`)
  if (contentType.trim() === '') throw new DomainError('malformed', 'The request needs a Content-Type.')
  if (!/^\s*multipart\/form-data\s*(;|$)/i.test(contentType))
    throw new DomainError('unsupported_type', 'Send multipart/form-data.')
  const { boundary = '' } = parametersOf(contentType)
  if (boundary === '') throw malformed('needs a boundary in its Content-Type')
  return boundary
}

function requireHead(sent: string): PartHead {
  const head = readPartHead(sent)
  if (head === null) throw malformed('has a part without a proper "Content-Disposition: form-data"')
  if (head.name.length > MAX_FIELD_NAME)
    throw malformed(`has a part whose name is longer than ${MAX_FIELD_NAME} characters`)
  return head
}

const HEAD_END = '\r\n\r\n'

/** Takes the body apart, no faster than it is asked. Holds no more than a chunk of it, or the head of a part. */
function createReader(chunks: AsyncIterator<Uint8Array>, boundary: string) {
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
  // What stands before the first boundary is read like a content, and dropped.
  let held = Buffer.from('\r\n')
  let isInContent = true
  let outside = 0

  /** False at the end of the body. */
  async function readMore(): Promise<boolean> {
    const { done, value } = await chunks.next()
    if (!done) held = Buffer.concat([held, value])
    return !done
  }

  async function requireMore(): Promise<void> {
    if (!(await readMore())) throw malformed('is not well-formed or broke off')
  }

  function drop(bytes: number): Buffer {
    const dropped = held.subarray(0, bytes)
    held = held.subarray(bytes)
    return dropped
  }

  function countOutside(bytes: number): void {
    outside += bytes
    if (outside > MAX_OUTSIDE_BYTES)
      throw malformed(`has more than ${MAX_OUTSIDE_BYTES} bytes outside the contents of its parts`)
  }

  /** More of the content of this part; null at its end. */
  async function nextPiece(): Promise<Buffer | null> {
    while (isInContent) {
      const piece = held.subarray(0, PIECE_BYTES)
      const end = piece.indexOf(delimiter)
      // The last bytes may be the beginning of a delimiter.
      const length = end === -1 ? piece.length - delimiter.length + 1 : end
      if (length > 0) return drop(length)
      isInContent = end === -1
      if (isInContent) await requireMore()
      else drop(delimiter.length)
    }
    return null
  }

  /** The headers of the next part; null behind the last one. */
  async function nextHead(): Promise<string | null> {
    for (let rest = await nextPiece(); rest !== null; rest = await nextPiece()) countOutside(rest.length)
    while (held.length < 2) await requireMore()
    if (held.toString('latin1', 0, 2) === '--') return readEpilogue()
    let end = held.indexOf(HEAD_END)
    for (; end === -1 && held.length <= MAX_HEAD_BYTES; end = held.indexOf(HEAD_END)) await requireMore()
    if (end === -1 || end > MAX_HEAD_BYTES)
      throw malformed(`has a part with more than ${MAX_HEAD_BYTES} bytes of headers`)
    countOutside(end)
    isInContent = true
    return drop(end + HEAD_END.length).toString('latin1', 0, end)
  }

  async function readEpilogue(): Promise<null> {
    do countOutside(drop(held.length).length)
    while (await readMore())
    return null
  }

  return { nextHead, nextPiece }
}

/** A form without a chosen file sends an empty part with an empty file name. That is no file. */
async function readFile(file: FilePart, { onFile }: MultipartOptions): Promise<unknown> {
  if (file.filename !== '') return onFile(file)
  const chunks = file.content[Symbol.asyncIterator]()
  const first = await chunks.next()
  if (first.done) return ''
  async function* whole(): AsyncGenerator<Uint8Array> {
    for (let next = first; !next.done; next = await chunks.next()) yield next.value
  }
  return onFile({ ...file, content: whole() })
}

function createTextReader({ maxTextBytes, limit, take }: MultipartOptions) {
  let left = maxTextBytes
  return async (content: AsyncIterable<Uint8Array>): Promise<string> => {
    const chunks: Uint8Array[] = []
    for await (const chunk of content) {
      left -= chunk.length
      if (left < 0) throw tooLarge({ maxBytes: maxTextBytes, limit })
      take(chunk.length)
      chunks.push(chunk)
    }
    return decodeText(Buffer.concat(chunks))
  }
}

/** Keeps a byte order mark, because payloads come back exactly. */
function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw malformed('holds a text part that is not UTF-8')
  }
}

function malformed(problem: string): DomainError {
  return new DomainError('malformed', `The multipart body ${problem}.`)
}
