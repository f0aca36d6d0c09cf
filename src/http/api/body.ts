// The bytes of a request's body, read with a limit and against a deadline.

import { DomainError } from '../../domain/errors.ts'

export type BodyLimits = {
  maxBytes: number
  /** The flag that raises it, for the message. */
  flag: string
  /** Of a body that carries files, all in all. */
  maxStreamBytes: number
  /** A body that is small enough to hold must be there by then; a streamed one must have kept up. */
  timeoutMs: number
}

const MIN_BYTES_PER_SECOND = 4096

/** Throws `too_large` as soon as the limit is passed, `too_slow` when the body takes too long. */
export async function readBody(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  const announced = request.headers.get('content-length')
  if (announced !== null && Number(announced) > limits.maxBytes) throw tooLarge(limits)
  // The server never hands over more than was announced.
  const reading = announced === null ? readChunks(request, limits) : request.bytes().catch(brokenOff)
  return withDeadline(reading, limits.timeoutMs)
}

/** Chunk by chunk. Throws `too_slow` when the sender does not keep up, `too_large` when there is no end to it. */
export async function* streamBody(
  request: Request,
  { timeoutMs, maxStreamBytes }: BodyLimits,
): AsyncGenerator<Uint8Array> {
  const started = performance.now()
  let size = 0
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.length
      if (size > maxStreamBytes)
        throw tooLarge({ maxBytes: maxStreamBytes, flag: '--max-files or --max-file-bytes' })
      const elapsed = performance.now() - started
      if (elapsed > timeoutMs && size < (elapsed / 1000) * MIN_BYTES_PER_SECOND) throw tooSlow()
      yield chunk
    }
  } catch (cause) {
    throw cause instanceof DomainError ? cause : brokenOff()
  }
}

async function readChunks(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of streamBody(request, limits)) {
    size += chunk.length
    if (size > limits.maxBytes) throw tooLarge(limits)
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

function tooLarge({ maxBytes, flag }: Pick<BodyLimits, 'maxBytes' | 'flag'>): DomainError {
  return new DomainError(
    'too_large',
    `The body of a request may have at most ${maxBytes} bytes (${flag} raises this).`,
  )
}

function tooSlow(): DomainError {
  return new DomainError('too_slow', 'The body of the request took too long.')
}

function brokenOff(): never {
  throw new DomainError('malformed', 'The body of the request broke off.')
}
