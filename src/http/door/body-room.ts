// Limits the memory for bodies and large answers, which are held whole until the client has received its
// answer, in all and for each client. Without a limit, a few hundred connections that each send a large body
// slowly, or ask for a large secret and do not read it, would fill the memory of the machine.

import { DomainError } from '../../domain/errors.ts'
import type { Exchange } from './exchange.ts'

const MIB = 1024 * 1024
const TOTAL_BYTES = 128 * MIB
const CLIENT_BYTES = 64 * MIB
/** Answers leave this much to bodies, because a client may take long to receive an answer. */
const BODY_BYTES = 32 * MIB
/** Bytes of each request that are not counted, so that pushing a password works while others fill the room. */
export const FREE_BYTES = 16 * 1024

export type BodyRoom = ReturnType<typeof createBodyRoom>

export type BodyRoomOptions = {
  /** The largest body in bytes. */
  maxBytes: number
  /** The client that an address counts as; null for one without a limit of its own. */
  clientOf: (address: string) => string | null
}

export function createBodyRoom({ maxBytes, clientOf }: BodyRoomOptions) {
  const clientBytes = Math.max(CLIENT_BYTES, maxBytes)
  const totalBytes = Math.max(TOTAL_BYTES, 2 * clientBytes)
  const heldBy = new Map<string, number>()
  const holders = new Set<Exchange>()
  let total = 0
  let lastTurn = Promise.resolve()

  /**
   * Resolves once it is this body's turn: large ones are decoded one after another, and other requests run in
   * between.
   */
  function turn(): Promise<void> {
    lastTurn = lastTurn.then(() => new Promise((resolve) => setImmediate(resolve)))
    return lastTurn
  }

  /**
   * Reserves room for received bytes of the body. In a full room the slowest body ends. Throws `overloaded`
   * if that is this one.
   */
  function take(exchange: Exchange, bytes: number): void {
    reserve(exchange, bytes, { room: totalBytes, speed: speedOf(exchange, bytes) })
  }

  /**
   * Reserves room for an answer with a text of so many bytes. May be called again for the same answer. Slow
   * bodies give way. Throws `overloaded` when there is no room.
   */
  function takeForAnswer(exchange: Exchange, bytes: number): void {
    const more = Math.max(0, bytes - exchange.heldBytes)
    reserve(exchange, more, { room: totalBytes - BODY_BYTES, speed: Number.POSITIVE_INFINITY })
  }

  function reserve(
    exchange: Exchange,
    bytes: number,
    { room, speed }: { room: number; speed: number },
  ): void {
    const after = exchange.heldBytes + bytes
    const more = counted(after) - counted(exchange.heldBytes)
    if (more > 0) {
      const client = clientOf(exchange.clientAddress)
      if (client !== null && (heldBy.get(client) ?? 0) + more > clientBytes) throw overloaded()
      while (total + more > room) endSlowerThan(speed)
      add(client, more)
      holders.add(exchange)
    }
    exchange.heldBytes = after
  }

  /** Ends the body that arrives most slowly. Throws `overloaded` if none is slower than this speed. */
  function endSlowerThan(speed: number): void {
    let slowest = { speed, exchange: null as Exchange | null }
    for (const exchange of holders) {
      const own = speedOf(exchange)
      if (exchange.endBody !== null && own < slowest.speed) slowest = { speed: own, exchange }
    }
    if (slowest.exchange === null) throw overloaded()
    giveBack(slowest.exchange)
    slowest.exchange.endBody?.()
  }

  /** Whether the exchange holds more than every request may. */
  function isHeldBy({ heldBytes }: Exchange): boolean {
    return counted(heldBytes) > 0
  }

  /** Holds exactly the bytes of the answer, which is there already, even without room for it. */
  function holdAnswer(exchange: Exchange, bytes: number): void {
    giveBack(exchange)
    exchange.heldBytes = bytes
    holders.add(exchange)
    add(clientOf(exchange.clientAddress), counted(bytes))
  }

  /** Frees the room, once the answer was received or nobody waits for it. */
  function giveBack(exchange: Exchange): void {
    const bytes = counted(exchange.heldBytes)
    exchange.heldBytes = 0
    holders.delete(exchange)
    if (bytes > 0) add(clientOf(exchange.clientAddress), -bytes)
  }

  function add(client: string | null, bytes: number): void {
    total += bytes
    if (client === null) return
    const now = (heldBy.get(client) ?? 0) + bytes
    if (now === 0) heldBy.delete(client)
    else heldBy.set(client, now)
  }

  return { take, takeForAnswer, isHeldBy, holdAnswer, turn, giveBack }
}

function counted(bytes: number): number {
  return Math.max(0, bytes - FREE_BYTES)
}

/** The bytes that a body holds for each millisecond since its request began, with `more` bytes. */
function speedOf({ heldBytes, startedAt }: Exchange, more = 0): number {
  return (heldBytes + more) / (performance.now() - startedAt)
}

export function overloaded(): DomainError {
  return new DomainError('overloaded', 'The server is busy with large requests; try again in a moment.', {
    retryAfter: 1,
  })
}

const PIECE = 64 * 1024
type Holding = { exchange: Exchange; bodyRoom: Pick<BodyRoom, 'holdAnswer' | 'giveBack'> }

/** The same answer. Bun itself would not tell when the client has received it. */
export async function sendInPieces(answer: Response, { exchange, bodyRoom }: Holding): Promise<Response> {
  const giveBack = () => bodyRoom.giveBack(exchange)
  const { signal } = exchange.request
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
