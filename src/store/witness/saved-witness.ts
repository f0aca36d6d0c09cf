// The text in which a node remembers outside its database how far that was.

import type { Witness } from '../../domain/restoration.ts'

/**
 * `savedAt`: the time by the database's clock, in milliseconds since 1970. `node`: the id in hex of the process that wrote it,
 * null for a command.
 */
export type SavedWitness = Witness & { savedAt: number; node: string | null }

const ID = /^[0-9a-f]{32}$/
const NOTE = 'Oncebox remembers here how far its database was. Leave it here.'

export function presentWitness(witness: SavedWitness): string {
  return `${JSON.stringify({ note: NOTE, ...witness })}\n`
}

/** Null for any other text. */
export function parseWitness(text: string): SavedWitness | null {
  try {
    const found: unknown = JSON.parse(text)
    return isWitness(found) ? found : null
  } catch {
    return null
  }
}

function isWitness(found: unknown): found is SavedWitness {
  if (typeof found !== 'object' || found === null) return false
  const { tag, beats, restoredAt, place, operations, isFinal, savedAt, node } = found as Partial<
    Record<keyof SavedWitness, unknown>
  >
  return (
    typeof tag === 'string' &&
    [beats, restoredAt, savedAt].every((number) => Number.isSafeInteger(number)) &&
    (place === null || typeof place === 'string') &&
    Array.isArray(operations) &&
    operations.every((id) => ID.test(String(id))) &&
    (node === null || ID.test(String(node))) &&
    typeof isFinal === 'boolean'
  )
}
