// HTTP by hand: bytes out, text back, for what no client would send.

import { connect } from 'node:net'

/** Text is sent as it is; a number is a pause in milliseconds. */
export type RawPart = string | number

export type RawAnswer = { text: string; statuses: number[]; closed: boolean }

/**
 * Sends the parts, one after another. Resolves with all that came back until the server closed, or until so many
 * milliseconds after the last part.
 */
export async function sendRaw(port: number, parts: Iterable<RawPart>, timeoutMs = 1_000): Promise<RawAnswer> {
  const { promise: end, resolve: finish } = Promise.withResolvers<void>()
  const answer = { text: '', closed: false }
  const close = () => {
    answer.closed = true
    finish()
  }
  const socket = connect({ host: '127.0.0.1', port })
  socket.on('data', (chunk) => {
    answer.text += chunk.toString('latin1')
  })
  socket.on('error', close)
  socket.on('close', close)
  for (const part of parts) {
    if (answer.closed) break
    if (typeof part === 'number') await Promise.race([Bun.sleep(part), end])
    else socket.write(part)
  }
  const timer = setTimeout(finish, timeoutMs)
  await end
  clearTimeout(timer)
  socket.destroy()
  const statuses = [...answer.text.matchAll(/HTTP\/1\.[01] (\d+)/g)].map((match) => Number(match[1]))
  return { ...answer, statuses }
}

/** Each piece after a pause; of a text, each character. */
export function drip(pieces: Iterable<string>, pauseMs: number): RawPart[] {
  return [...pieces].flatMap((piece) => [pauseMs, piece])
}
