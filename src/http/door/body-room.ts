// Room in memory for bodies that are held whole while a request is answered: shared by all, and each client has a part.
// Without it a few hundred connections with a large body each, sent slowly, would fill the memory of the machine.

import { DomainError } from '../../domain/errors.ts'
import type { Exchange } from './exchange.ts'

const MIB = 1024 * 1024
const TOTAL_BYTES = 128 * MIB
const CLIENT_BYTES = 64 * MIB
/** What each body has for nothing, so that whoever fills the room keeps nobody from pushing a password. */
export const FREE_BYTES = 16 * 1024

export type BodyRoom = {
  /** Takes room for so many more bytes of the body of a request. Throws `overloaded` when there is none. */
  take(exchange: Exchange, bytes: number): void
  /** The request has been answered: its room is for others. */
  giveBack(exchange: Exchange): void
}

export type BodyRoomOptions = {
  /** Bytes of one body that must find room. */
  maxBytes: number
  /** Whose part it is; null for a client without a limit of its own. */
  clientOf: (address: string) => string | null
}

export function createBodyRoom({ maxBytes, clientOf }: BodyRoomOptions): BodyRoom {
  const clientBytes = Math.max(CLIENT_BYTES, maxBytes)
  const totalBytes = Math.max(TOTAL_BYTES, 2 * clientBytes)
  const held = new Map<Exchange, number>()
  const heldBy = new Map<string, number>()
  let total = 0

  function take(exchange: Exchange, bytes: number): void {
    const before = held.get(exchange) ?? 0
    const more = counted(before + bytes) - counted(before)
    const client = clientOf(exchange.clientAddress)
    const isOver = client !== null && (heldBy.get(client) ?? 0) + more > clientBytes
    if (more > 0 && (isOver || total + more > totalBytes)) throw overloaded()
    held.set(exchange, before + bytes)
    add(client, more)
  }

  function giveBack(exchange: Exchange): void {
    const bytes = held.get(exchange)
    if (bytes === undefined) return
    held.delete(exchange)
    add(clientOf(exchange.clientAddress), -counted(bytes))
  }

  function add(client: string | null, bytes: number): void {
    total += bytes
    if (client === null) return
    const now = (heldBy.get(client) ?? 0) + bytes
    if (now === 0) heldBy.delete(client)
    else heldBy.set(client, now)
  }

  return { take, giveBack }
}

function counted(bytes: number): number {
  return Math.max(0, bytes - FREE_BYTES)
}

function overloaded(): DomainError {
  return new DomainError('overloaded', 'The server is busy with large requests; try again in a moment.', {
    retryAfter: 1,
  })
}
