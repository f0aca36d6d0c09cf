// Reads the body of a request, within a size limit and a deadline.

import { DomainError, type SizeLimit } from '../../domain/errors.ts'
import { type BodyRoom, FREE_BYTES, overloaded } from '../door/body-room.ts'
import { type Exchange, requireOpen } from '../door/exchange.ts'
import { createTurns } from '../door/turns.ts'

export type BodyLimits = {
  /** Maximum size of a body that is held in memory. */
  maxBytes: number
  /** The setting that determines `maxBytes`; null if there is none. */
  limit: SizeLimit | null
  /** Maximum size of a body with files. */
  maxStreamBytes: number
  /** Deadline for a large body in memory. A streamed body must keep a minimum speed after it. */
  timeoutMs: number
  /**
   * Reserves memory for received bytes until the request is answered. Throws `overloaded` if there is no
   * room.
   */
  take: (exchange: Exchange, bytes: number) => void
  /** Resolves when it is this large body's turn to be decoded. */
  turn: () => Promise<void>
}

const KIB = 1024
const TIMEOUT_MS = 60_000
const MIN_BYTES_PER_SECOND = 4096
/**
 * Resolves in the next turn of the event loop. Shared, so that all bodies of one turn continue one after
 * another. There is no queue, which would hide the number of waiting requests from load shedding.
 */
const nextTurn = createTurns(Number.POSITIVE_INFINITY)
/** Read at most one smaller chunk per turn of the event loop, because Bun joins those that arrive between. */
const SMALL_CHUNK = 4 * KIB

type Sizes = { maxPayloadBytes: number; maxFiles: number; maxFileBytes: number }

/**
 * Returns the maximum size of a body that is held in memory. Escaping can turn one byte of a payload into
 * six.
 */
export function maxBodyBytes({ maxPayloadBytes }: Pick<Sizes, 'maxPayloadBytes'>): number {
  return 6 * maxPayloadBytes + 64 * KIB
}

export function bodyLimitsOf(sizes: Sizes, { take, turn }: Pick<BodyRoom, 'take' | 'turn'>): BodyLimits {
  const maxBytes = maxBodyBytes(sizes)
  const maxStreamBytes = maxBytes + sizes.maxFiles * (sizes.maxFileBytes + KIB)
  const limit = { of: 'text', bytes: sizes.maxPayloadBytes, flag: '--max-payload-bytes' } as const
  return { maxBytes, limit, maxStreamBytes, timeoutMs: TIMEOUT_MS, take, turn }
}

/**
 * Reads a body into memory. Throws `too_large` as soon as it exceeds the limit, `too_slow` after the
 * deadline, `overloaded` if there is no memory, and `malformed` if the connection was closed. With
 * `isCheckedLater` returns a small body at once: the step that uses it must call `requireOpen`.
 */
export function readBody(
  exchange: Exchange,
  limits: BodyLimits & { isCheckedLater?: boolean | undefined },
): Promise<Uint8Array> {
  const announced = Number(exchange.request.headers.get('content-length') ?? Number.NaN)
  if (announced > limits.maxBytes) throw tooLarge(limits)
  // Bun never delivers more than Content-Length. A small body needs no reservation, and no deadline beside
  // the idle timeout of its connection.
  return announced <= FREE_BYTES ? readSmall(exchange, limits.isCheckedLater) : readLarge(exchange, limits)
}

async function readSmall(exchange: Exchange, isCheckedLater = false): Promise<Uint8Array> {
  const body = await exchange.request.bytes().catch(brokenOff)
  if (!isCheckedLater) await requireAnswerable(exchange)
  return body
}

/** Throws `malformed` if a second request has arrived behind this body, which Bun sees in the next turn. */
async function requireAnswerable(exchange: Exchange): Promise<void> {
  await nextTurn()
  requireOpen(exchange)
}

/** Reads a large body, or one of unknown length. Reserves memory for received bytes, not announced ones. */
async function readLarge(exchange: Exchange, limits: BodyLimits): Promise<Uint8Array> {
  const body = await withDeadline(readChunks(exchange, limits), limits.timeoutMs)
  if (body.length > FREE_BYTES) await limits.turn()
  return body
}

/**
 * Yields the body in chunks. Throws `too_slow` if the sender falls below the minimum speed, `too_large`, and
 * `overloaded` when it gives way to a faster body.
 */
export async function* streamBody(
  exchange: Exchange,
  { timeoutMs, maxStreamBytes }: Pick<BodyLimits, 'timeoutMs' | 'maxStreamBytes'>,
): AsyncGenerator<Uint8Array> {
  const { request, stayOpen } = exchange
  if (request.body === null) return
  const reader = request.body.getReader()
  const started = performance.now()
  let size = 0
  let hasGivenWay = false
  exchange.endBody = () => {
    hasGivenWay = true
    void reader.cancel()
  }
  try {
    for (;;) {
      const { value: chunk, done } = await reader.read()
      if (hasGivenWay) throw overloaded()
      if (done) return await requireAnswerable(exchange)
      size += chunk.length
      if (size > maxStreamBytes)
        throw tooLarge({ maxBytes: maxStreamBytes, limit: limitOfFiles(maxStreamBytes) })
      const elapsed = performance.now() - started
      const keepsUp = size >= (elapsed / 1000) * MIN_BYTES_PER_SECOND
      if (keepsUp) stayOpen()
      else if (elapsed > timeoutMs) throw tooSlow()
      yield chunk
      if (chunk.length < SMALL_CHUNK) await nextTurn()
    }
  } catch (cause) {
    throw cause instanceof DomainError ? cause : brokenOff()
  } finally {
    exchange.endBody = null
    void reader.cancel().catch(() => undefined)
  }
}

async function readChunks(exchange: Exchange, limits: BodyLimits): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of streamBody(exchange, limits)) {
    size += chunk.length
    if (size > limits.maxBytes) throw tooLarge(limits)
    limits.take(exchange, chunk.length)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function withDeadline<T>(reading: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const timer = setTimeout(() => reject(tooSlow()), timeoutMs)
  void reading.then(resolve, reject).then(() => clearTimeout(timer))
  return promise
}

export function tooLarge({ maxBytes, limit }: Pick<BodyLimits, 'maxBytes' | 'limit'>): DomainError {
  const whole = `The body of a request may have at most ${maxBytes} bytes`
  if (limit === null) return new DomainError('too_large', `${whole}.`)
  const text = limit.of === 'text' ? `, and a text ${limit.bytes} of them` : ''
  return new DomainError('too_large', `${whole}${text} (${limit.flag} of the server raises this).`, { limit })
}

function limitOfFiles(bytes: number): SizeLimit {
  return { of: 'files', bytes, flag: '--max-files or --max-file-bytes' }
}

function tooSlow(): DomainError {
  return new DomainError('too_slow', 'The body of the request took too long.')
}

function brokenOff(): never {
  throw new DomainError('malformed', 'The body of the request broke off.')
}
