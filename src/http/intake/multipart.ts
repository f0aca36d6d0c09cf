// Reads a multipart body part by part while it arrives. A part with a file name is a file, any other part is
// UTF-8 text.

import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BusboyInstance, Dicer } from '@fastify/busboy'
import { DomainError, isDomainError, type SizeLimit } from '../../domain/errors.ts'
import { ANY_TYPE } from '../../domain/files.ts'
import { tooLarge } from './body.ts'
import { readFilename } from './file-part-name.ts'
import { MAX_FIELD_NAME, MAX_FIELDS } from './members.ts'
import { decodeUtf8 } from './utf8.ts'

export type FilePart = { filename: string; contentType: string; content: AsyncIterable<Uint8Array> }

type MultipartOptions = {
  contentType: string
  /** Maximum bytes of all text parts together. */
  maxTextBytes: number
  /** The setting that determines `maxTextBytes`; null if there is none. */
  limit: SizeLimit | null
  /** Reserves memory for received text. Throws `overloaded` if there is no room. */
  take: (bytes: number) => void
  /** Reads the content to its end, or throws. Its result becomes the value of the part. */
  onFile: (file: FilePart) => Promise<unknown>
  /** Called after each part has been read, even if a later part fails. */
  onPart?: (name: string, value: unknown) => void
}

type Part = { name: string; value: unknown }

/** RFC 2046 allows a boundary 70 characters. */
const MAX_CONTENT_TYPE = 200
/** Headers of a part. Clients send three. */
const MAX_HEADERS = 20
const MAX_HEADER_BYTES = 16 * 1024
/** Bytes that are parsed before parts are checked again and other requests get their turn. */
const PIECE_BYTES = 64 * 1024
/** Maximum bytes before, between and after the contents of the parts. */
const MAX_OUTSIDE_BYTES = 1024 * 1024

/**
 * Resolves to the parts in their order. Throws `malformed`, `too_large`, and the errors of `take` and
 * `onFile`.
 */
export async function readMultipart(
  body: AsyncIterable<Uint8Array>,
  options: MultipartOptions,
): Promise<Part[]> {
  const parser = createParser(options.contentType)
  const stop = new AbortController()
  const abort = (cause: unknown) => stop.abort(cause)
  const refuse = (cause: unknown) => abort(isDomainError(cause) ? cause : brokenOff())
  const readText = createTextReader(options)
  const begun = watchParts(parser)
  const parts: Promise<Part>[] = []
  let textsRead: Promise<unknown> = Promise.resolve()
  /** Counts names as texts, because they stay in memory until the request is answered. */
  const takeNames = (name: string, filename: unknown) => {
    if (name.length > MAX_FIELD_NAME)
      throw malformed(`has a part whose name is longer than ${MAX_FIELD_NAME} characters`)
    options.take(name.length + (typeof filename === 'string' ? filename.length : 0))
  }
  parser.on('error', refuse)
  parser.on('partsLimit', () => abort(malformed(`has more than ${MAX_FIELDS} parts`)))
  parser.on('file', (given: string | undefined, content, filename, _encoding, claimed) => {
    const name = decodeName(given)
    const contentType = begun.claimsType ? claimed : ANY_TYPE
    // Ignore the error here: the reader of the part handles it. If nothing reads the part, an unhandled error
    // would end the process.
    content.on('error', () => undefined)
    try {
      stop.signal.throwIfAborted()
      takeNames(name, filename)
    } catch (cause) {
      abort(cause)
      content.destroy()
      return
    }
    stop.signal.addEventListener('abort', () => content.destroy(malformed('broke off')))
    const isFile = typeof filename === 'string'
    const { disposition } = begun
    const readPart = () => {
      const sent = asSent(content)
      if (!isFile) return readText(sent)
      return readFile({ filename: readFilename(filename, disposition), contentType, content: sent }, options)
    }
    // Read the texts before a file first, because onFile may need them.
    const reading = isFile ? textsRead.then(readPart) : readPart()
    const part = reading.then((value) => {
      options.onPart?.(name, value)
      return { name, value }
    })
    part.catch(abort)
    parts.push(part)
    if (isFile) return
    textsRead = Promise.all([textsRead, part])
    textsRead.catch(abort)
  })
  try {
    await feed(body, { parser, begun, signal: stop.signal })
    if (parts.length !== begun.count)
      abort(malformed('has a part without a proper "Content-Disposition: form-data"'))
    stop.signal.throwIfAborted()
    return await Promise.all(parts)
  } catch (cause) {
    refuse(cause)
    await Promise.allSettled(parts)
    throw stop.signal.reason
  }
}

function createParser(contentType: string): BusboyInstance {
  if (contentType.length > MAX_CONTENT_TYPE)
    throw malformed(`has a Content-Type longer than ${MAX_CONTENT_TYPE} characters`)
  if (contentType.trim() === '') throw new DomainError('malformed', 'The request needs a Content-Type.')
  // Refuse other forms: busboy would also read urlencoded ones, differently from urlencoded.ts.
  if (!/^\s*multipart\/form-data\s*(;|$)/i.test(contentType))
    throw new DomainError('unsupported_type', 'Send multipart/form-data.')
  // Load the parser with the first form that has files.
  const { Busboy }: typeof import('@fastify/busboy') = require('@fastify/busboy')
  try {
    const limits = { parts: MAX_FIELDS, headerSize: MAX_HEADER_BYTES, headerPairs: MAX_HEADERS }
    // Read every part as a stream, because busboy would decode text by the charset that the part claims. Keep
    // folders in names: they are cut off after decoding, since an encoded word may contain a slash.
    const names = { preservePath: true }
    return new Busboy({ headers: { 'content-type': contentType }, isPartAFile: () => true, limits, ...names })
  } catch {
    throw malformed('needs a boundary in its Content-Type')
  }
}

type ParserState = { count: number; open: number; claimsType: boolean; disposition: string }

/**
 * Counts all parts and the unfinished ones, and keeps the type and Content-Disposition of the last one.
 * Busboy reports text/plain for a part without a type, overlooks a `filename*` after a `filename`, and skips
 * a part with unreadable headers. It has no public event for headers, so this listens to its inner parser,
 * which a test checks.
 */
export function watchParts(busboy: BusboyInstance): ParserState {
  const inside = busboy as unknown as { _parser: { parser: Dicer } }
  const begun: ParserState = { count: 0, open: 0, claimsType: false, disposition: '' }
  inside._parser.parser.prependListener('part', (part: Dicer.PartStream) => {
    begun.count += 1
    part.on('end', () => {
      begun.open -= 1
    })
    part.on('header', (header: Partial<Record<string, string[]>>) => {
      begun.open += 1
      begun.claimsType = header['content-type'] !== undefined
      begun.disposition = header['content-disposition']?.[0] ?? ''
    })
  })
  return begun
}

type Fed = { parser: BusboyInstance; begun: ParserState; signal: AbortSignal }

/** Writes the body to the parser, no faster than its parts are read. Rejects when `signal` aborts. */
async function feed(body: AsyncIterable<Uint8Array>, { parser, begun, signal }: Fed): Promise<void> {
  const chunks = body[Symbol.asyncIterator]()
  let outside = 0
  try {
    for (;;) {
      const next = await nextUnlessAborted(chunks, signal)
      if (next.done) break
      for (let at = 0; at < next.value.length; at += PIECE_BYTES) {
        signal.throwIfAborted()
        const piece = next.value.subarray(at, at + PIECE_BYTES)
        const isReady = parser.write(piece)
        if (begun.open === 0) outside += piece.length
        if (outside > MAX_OUTSIDE_BYTES)
          throw malformed(`has more than ${MAX_OUTSIDE_BYTES} bytes outside the contents of its parts`)
        if (!isReady) await once(parser, 'drain', { signal })
        await nextTurn()
      }
    }
  } finally {
    chunks.return?.().catch(() => undefined)
  }
  const finished = once(parser, 'finish', { signal })
  parser.end()
  await finished
}

/** Rejects at once when `signal` aborts, even while the sender pauses. */
function nextUnlessAborted<T>(chunks: AsyncIterator<T>, signal: AbortSignal): Promise<IteratorResult<T>> {
  const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<T>>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  else chunks.next().then(resolve, reject)
  return promise.finally(() => signal.removeEventListener('abort', abort))
}

/** Reports a malformed part as the sender's fault. Any other error of its reader is the server's. */
async function* asSent(content: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* content
  } catch (cause) {
    throw isDomainError(cause) ? cause : brokenOff()
  }
}

/** Returns '' for the empty part with an empty file name that a form without a chosen file sends. */
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
    return decodeUtf8(Buffer.concat(chunks), 'The multipart body holds a text part that is not UTF-8.')
  }
}

/** Decodes brackets, which some clients escape. */
function decodeName(name: string | undefined): string {
  return (name ?? '').replace(/%5b/gi, '[').replace(/%5d/gi, ']')
}

function brokenOff(): DomainError {
  return malformed('is not well-formed or broke off')
}

function malformed(problem: string): DomainError {
  return new DomainError('malformed', `The multipart body ${problem}.`)
}
