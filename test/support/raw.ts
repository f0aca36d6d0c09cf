// HTTP by hand: bytes out, text back, for what no client would send.

import { connect } from 'node:net'

export type RawAnswer = { text: string; closed: boolean }

/**
 * Sends the parts, a number being a pause in milliseconds. Resolves with all that came back until the server closed, or
 * until so many milliseconds after the last part.
 */
export async function sendRaw(
  port: number,
  parts: (string | number)[],
  timeoutMs = 1_000,
): Promise<RawAnswer> {
  const answer = { text: '', closed: false }
  const { promise: end, resolve: finish } = Promise.withResolvers<void>()
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
    if (typeof part === 'number') await Bun.sleep(part)
    else socket.write(part)
  }
  const timer = setTimeout(finish, timeoutMs)
  await end
  clearTimeout(timer)
  socket.destroy()
  return { ...answer }
}
