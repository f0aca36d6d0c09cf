// The text in which a node remembers outside its database how far that was.

import { isCount, type Witness } from '../../domain/restoration.ts'

/**
 * `savedAt`: the time by the database's clock, in milliseconds since 1970. `node`: the id in hex of the process that wrote it,
 * null for a command.
 */
export type SavedWitness = Witness & { savedAt: number; node: string | null }

const ID = /^[0-9a-f]{32}$/
const NOTE = 'Oncebox remembers here how far its database was. Leave it here.'
/** More than any node writes. */
const MOST_OPERATIONS = 256
const MOST_CHARACTERS = 256

export function presentWitness(witness: SavedWitness): string {
  return `${JSON.stringify({ note: NOTE, ...witness })}\n`
}

/** Null for any other text. */
export function parseWitness(text: string): SavedWitness | null {
  const found = parseJson(text)
  return isWitness(found) ? found : null
}

/** Null for what is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

export function isWitness(found: unknown): found is SavedWitness {
  if (typeof found !== 'object' || found === null) return false
  const { tag, beats, restoredAt, place, operations, isFinal, savedAt, node } = found as Partial<
    Record<keyof SavedWitness, unknown>
  >
  return (
    isShort(tag) &&
    [beats, restoredAt, savedAt].every(isCount) &&
    (place === null || isShort(place)) &&
    Array.isArray(operations) &&
    operations.length <= MOST_OPERATIONS &&
    operations.every(isId) &&
    (node === null || isId(node)) &&
    typeof isFinal === 'boolean'
  )
}

const isShort = (found: unknown): found is string =>
  typeof found === 'string' && found.length <= MOST_CHARACTERS

const isId = (found: unknown): boolean => typeof found === 'string' && ID.test(found)
