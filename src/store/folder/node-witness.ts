// What a node remembers of its database in its data folder, so that a later start notices a database that was set back.

import { join } from 'node:path'
import { DomainError } from '../../domain/errors.ts'
import type { Witness } from '../../domain/restoration.ts'
import { createClosedFile } from './closed-file.ts'

/** `savedAt`: the time by the database's clock, in milliseconds since 1970. */
export type SavedWitness = Witness & { savedAt: number }

export type NodeWitness = {
  path: string
  /** Null in a folder that was never served. Throws `conflict` for a file that cannot be read. */
  read(): Promise<SavedWitness | null>
  /** Survives a power cut. */
  write(witness: SavedWitness): Promise<void>
}

const NOTE = 'Oncebox remembers here how far its database was. Leave it here.'

export function createNodeWitness(dataDir: string): NodeWitness {
  const file = createClosedFile(join(dataDir, 'serve.witness'))

  async function read(): Promise<SavedWitness | null> {
    const text = await file.read()
    if (text === null) return null
    const found = parse(text)
    if (found !== null) return found
    throw new DomainError(
      'conflict',
      `The file ${file.path} is damaged: it tells whether the database was set back. If you know that it was not, remove the ` +
        'file and start again; otherwise run "oncebox after-restore", which expires every push.',
    )
  }

  const write = (witness: SavedWitness) => file.write(`${JSON.stringify({ note: NOTE, ...witness })}\n`)

  return { path: file.path, read, write }
}

function parse(text: string): SavedWitness | null {
  try {
    const found: unknown = JSON.parse(text)
    return isWitness(found) ? found : null
  } catch {
    return null
  }
}

function isWitness(found: unknown): found is SavedWitness {
  if (typeof found !== 'object' || found === null) return false
  const { tag, beats, restoredAt, operations, isFinal, savedAt } = found as Partial<
    Record<keyof SavedWitness, unknown>
  >
  return (
    typeof tag === 'string' &&
    [beats, restoredAt, savedAt].every((number) => Number.isSafeInteger(number)) &&
    Array.isArray(operations) &&
    operations.every((id) => /^[0-9a-f]{32}$/.test(String(id))) &&
    typeof isFinal === 'boolean'
  )
}
