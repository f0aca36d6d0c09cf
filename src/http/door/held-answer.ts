// Sends a large answer only as fast as the client reads it, and holds its room until then.

import type { BodyRoom } from './body-room.ts'
import type { Exchange } from './exchange.ts'

const PIECE = 64 * 1024

type Holding = { exchange: Exchange; bodyRoom: Pick<BodyRoom, 'holdAnswer' | 'giveBack'> }

/** The same answer. Bun itself would not tell when the client has received it. */
export async function sendInPieces(answer: Response, { exchange, bodyRoom }: Holding): Promise<Response> {
  const giveBack = () => bodyRoom.giveBack(exchange)
  const { signal } = exchange.arrived
  const { status, headers } = answer
  const whole = await answer.bytes().catch((cause) => {
    giveBack()
    throw cause
  })
  if (whole.length <= PIECE || signal.aborted) {
    giveBack()
    return new Response(whole.length === 0 ? null : whole, { status, headers })
  }
  bodyRoom.holdAnswer(exchange, whole.length)
  signal.addEventListener('abort', giveBack)
  let at = 0
  const pieces = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        controller.enqueue(whole.subarray(at, at + PIECE))
        at += PIECE
        if (at < whole.length) return
        controller.close()
        giveBack()
      },
      cancel: giveBack,
    },
    { highWaterMark: 0 },
  )
  return new Response(pieces, { status, headers })
}
