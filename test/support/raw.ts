// HTTP by hand, byte by byte, for requests that no client would send.

import { connect } from 'node:net'

/** Text is sent as it is; a number is a pause in milliseconds. */
export type RawPart = string | number

export type RawAnswer = { text: string; statuses: number[]; closed: boolean }

/** When to stop waiting after everything was sent. */
export type Waiting = {
  /** Whether the answer is complete. Without it, waits until the server closes. */
  until?: (answer: RawAnswer) => boolean
  /** Milliseconds in which nothing more must arrive after that. */
  thenMs?: number
}

/** Waiting of a client that disconnects, whatever it has received. */
export const thenLeave = (thenMs: number): Waiting => ({ until: () => true, thenMs })

/** A busy machine may answer late, and a silent connection is kept for half a minute. */
const PATIENCE_MS = 150_000

/** Sends the parts, one after another. Resolves to all that was received. */
export async function sendRaw(
  port: number,
  parts: Iterable<RawPart>,
  { until = () => false, thenMs = 0 }: Waiting = {},
): Promise<RawAnswer> {
  const { promise: isClosed, resolve: close } = Promise.withResolvers<void>()
  const { promise: isEnough, resolve: finish } = Promise.withResolvers<void>()
  const answer: RawAnswer = { text: '', statuses: [], closed: false }
  let isSent = false
  const look = () => {
    answer.statuses = [...answer.text.matchAll(/HTTP\/1\.[01] (\d+)/g)].map((match) => Number(match[1]))
    if (isSent && until(answer)) finish()
  }
  const socket = connect({ host: '127.0.0.1', port })
  socket.on('data', (chunk) => {
    answer.text += chunk.toString('latin1')
    look()
  })
  const end = () => {
    answer.closed = true
    close()
  }
  socket.on('error', end)
  socket.on('close', end)
  for (const part of parts) {
    if (answer.closed) break
    if (typeof part === 'number') await Promise.race([Bun.sleep(part), isClosed])
    else socket.write(part)
  }
  isSent = true
  look()
  const timer = setTimeout(finish, PATIENCE_MS)
  await Promise.race([isEnough, isClosed])
  clearTimeout(timer)
  if (thenMs > 0) await Promise.race([Bun.sleep(thenMs), isClosed])
  socket.destroy()
  return answer
}

/** Returns each piece, or each character of a text, after a pause. */
export function drip(pieces: Iterable<string>, pauseMs: number): RawPart[] {
  return [...pieces].flatMap((piece) => [pauseMs, piece])
}
