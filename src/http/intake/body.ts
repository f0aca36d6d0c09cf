// The bytes of a request's body, read with a limit and against a deadline.

import { DomainError, type SizeLimit } from '../../domain/errors.ts'
import { FREE_BYTES } from '../door/body-room.ts'
import type { Exchange } from '../door/exchange.ts'

export type BodyLimits = {
  maxBytes: number
  /** The limit of a text, which decides it; null when no setting does. */
  limit: SizeLimit | null
  /** Of a body that carries files, all in all. */
  maxStreamBytes: number
  /** A body that is small enough to hold must be there by then; a streamed one must have kept up. */
  timeoutMs: number
  /** Takes room in memory for so many bytes of the body, until its request is answered. Throws `overloaded`. */
  take: (exchange: Exchange, bytes: number) => void
}

const KIB = 1024
const TIMEOUT_MS = 60_000
const MIN_BYTES_PER_SECOND = 4096

type Sizes = { maxPayloadBytes: number; maxFiles: number; maxFileBytes: number }

/** Of a body that is held whole: escaping may take six bytes for one. */
export function maxBodyBytes({ maxPayloadBytes }: Pick<Sizes, 'maxPayloadBytes'>): number {
  return 6 * maxPayloadBytes + 64 * KIB
}

export function bodyLimitsOf(sizes: Sizes, take: BodyLimits['take']): BodyLimits {
  const maxBytes = maxBodyBytes(sizes)
  const maxStreamBytes = maxBytes + sizes.maxFiles * (sizes.maxFileBytes + KIB)
  const limit = { of: 'text', bytes: sizes.maxPayloadBytes, flag: '--max-payload-bytes' } as const
  return { maxBytes, limit, maxStreamBytes, timeoutMs: TIMEOUT_MS, take }
}

/** Throws `too_large` as soon as the limit is passed, `too_slow` when it takes too long, `overloaded` without room. */
export async function readBody(exchange: Exchange, limits: BodyLimits): Promise<Uint8Array> {
  const announced = Number(exchange.arrived.headers.get('content-length') ?? Number.NaN)
  if (announced > limits.maxBytes) throw tooLarge(limits)
  // The server never hands over more than was announced. Room is taken for what is there: to announce costs nothing.
  const isSmall = announced <= FREE_BYTES
  const reading = isSmall ? exchange.arrived.bytes().catch(brokenOff) : readChunks(exchange, limits)
  return withDeadline(reading, limits.timeoutMs)
}

/** Chunk by chunk. Throws `too_slow` when the sender does not keep up, `too_large` when there is no end to it. */
export async function* streamBody(
  { arrived, stayOpen }: Exchange,
  { timeoutMs, maxStreamBytes }: Pick<BodyLimits, 'timeoutMs' | 'maxStreamBytes'>,
): AsyncGenerator<Uint8Array> {
  const started = performance.now()
  let size = 0
  try {
    for await (const chunk of arrived.body ?? []) {
      size += chunk.length
      if (size > maxStreamBytes)
        throw tooLarge({ maxBytes: maxStreamBytes, limit: limitOfFiles(maxStreamBytes) })
      const elapsed = performance.now() - started
      const keepsUp = size >= (elapsed / 1000) * MIN_BYTES_PER_SECOND
      if (keepsUp) stayOpen()
      else if (elapsed > timeoutMs) throw tooSlow()
      yield chunk
    }
  } catch (cause) {
    throw cause instanceof DomainError ? cause : brokenOff()
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

async function withDeadline<T>(reading: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: Timer | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooSlow()), timeoutMs)
  })
  try {
    return await Promise.race([reading, deadline])
  } finally {
    clearTimeout(timer)
  }
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
