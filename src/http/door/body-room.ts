// Limits the memory for bodies and large answers, in total and per client. Otherwise a few hundred clients
// that send large bodies slowly, or do not read large answers, would exhaust the machine's memory.

import { LOOPBACK } from '../../domain/client.ts'
import { DomainError } from '../../domain/errors.ts'
import type { Exchange } from './exchange.ts'

const MIB = 1024 * 1024
const TOTAL_BYTES = 128 * MIB
const CLIENT_BYTES = 64 * MIB
/** Memory that answers must leave to bodies, because a client may take long to receive an answer. */
const BODY_BYTES = 32 * MIB
/** Bytes per request that are not counted, so that a push can be created while others use up the limit. */
export const FREE_BYTES = 16 * 1024

export type BodyRoom = ReturnType<typeof createBodyRoom>

type BodyRoomOptions = {
  /** The largest body in bytes. */
  maxBytes: number
  /** Returns the client that an address belongs to; null for an address without its own limit. */
  clientOf: (address: string) => string | null
}

export function createBodyRoom({ maxBytes, clientOf }: BodyRoomOptions) {
  const clientBytes = Math.max(CLIENT_BYTES, maxBytes)
  const totalBytes = Math.max(TOTAL_BYTES, 2 * clientBytes)
  const heldBy = new Map<string, number>()
  const holders = new Set<Exchange>()
  let total = 0
  /** The bytes of the total that requests of --receive-listen hold: at most half. */
  let outside = 0
  let lastTurn = Promise.resolve()

  /**
   * Resolves when it is this body's turn. Large bodies are decoded one after another, and other requests run
   * in between.
   */
  function turn(): Promise<void> {
    lastTurn = lastTurn.then(() => new Promise((resolve) => setImmediate(resolve)))
    return lastTurn
  }

  /**
   * Reserves memory for received bytes of a body. If the limit is reached, ends the slowest body; throws
   * `overloaded` if that is this one.
   */
  function take(exchange: Exchange, bytes: number): void {
    reserve(exchange, bytes, { room: totalBytes, speed: speedOf(exchange, bytes) })
  }

  /**
   * Reserves room for an answer with a text of this size, and ends slower bodies if needed. Calling it again
   * reserves only the difference. Throws `overloaded` if there is no room.
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
      const client = clientIn(exchange)
      if (client !== null && (heldBy.get(client) ?? 0) + more > clientBytes) throw overloaded()
      while (total + more > room) endSlowerThan(speed)
      while (exchange.isOutside && outside + more > totalBytes / 2)
        endSlowerThan(speed, ({ isOutside }) => isOutside)
      add(exchange, more)
      holders.add(exchange)
    }
    exchange.heldBytes = after
  }

  /** Ends the slowest body. Throws `overloaded` if none is slower than `speed`. */
  function endSlowerThan(speed: number, mayEnd = (_: Exchange) => true): void {
    let slowest = { speed, exchange: null as Exchange | null }
    for (const exchange of holders) {
      const own = speedOf(exchange)
      if (exchange.endBody !== null && mayEnd(exchange) && own < slowest.speed)
        slowest = { speed: own, exchange }
    }
    if (slowest.exchange === null) throw overloaded()
    giveBack(slowest.exchange)
    slowest.exchange.endBody?.()
  }

  /** Whether the exchange holds more than the bytes that are not counted. */
  function isHeldBy({ heldBytes }: Exchange): boolean {
    return counted(heldBytes) > 0
  }

  /**
   * Replaces the reservation by the size of the answer, which is in memory already, even if the room is full.
   */
  function holdAnswer(exchange: Exchange, bytes: number): void {
    giveBack(exchange)
    exchange.heldBytes = bytes
    holders.add(exchange)
    add(exchange, counted(bytes))
  }

  /** Frees the room of the exchange. Idempotent. */
  function giveBack(exchange: Exchange): void {
    const bytes = counted(exchange.heldBytes)
    exchange.heldBytes = 0
    holders.delete(exchange)
    if (bytes > 0) add(exchange, -bytes)
  }

  function clientIn({ clientAddress, isOutside }: Exchange): string | null {
    return clientOf(clientAddress) ?? (isOutside ? LOOPBACK : null)
  }

  function add(exchange: Exchange, bytes: number): void {
    const client = clientIn(exchange)
    total += bytes
    if (exchange.isOutside) outside += bytes
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

/** Returns how many bytes a body holds, with `more`, per millisecond since its request began. */
function speedOf({ heldBytes, startedAt }: Exchange, more = 0): number {
  return (heldBytes + more) / (performance.now() - startedAt)
}

export function overloaded(): DomainError {
  return new DomainError('overloaded', 'The server is busy with large requests; try again in a moment.', {
    retryAfter: 1,
  })
}

const PIECE = 64 * 1024
type HeldAnswer = { exchange: Exchange; bodyRoom: Pick<BodyRoom, 'holdAnswer' | 'giveBack'> }

/** Sends the answer in pieces, to notice when the client has received it; Bun does not report that. */
export async function sendInPieces(answer: Response, { exchange, bodyRoom }: HeldAnswer): Promise<Response> {
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
