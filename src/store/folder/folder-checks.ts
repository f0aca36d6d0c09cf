// What can go wrong with a data folder while it is served: it cannot be written to, or its database or key file has gone.

import { constants, statSync } from 'node:fs'
import { access, readFile } from 'node:fs/promises'
import { type Keyring, parseKeyFile } from '../../crypto/keyring.ts'
import { reasonOf } from '../../domain/system-errors.ts'

type Served = {
  /** The paths that the server writes to. */
  written: readonly string[]
  /** Resolves to why a write to the database fails; null when none has failed. */
  tryToWrite?: () => Promise<string | null>
  keyFile: string
  keyring: Keyring
}

export function createFolderChecks({ written, tryToWrite, keyFile, keyring }: Served) {
  return {
    findWriteProblem: async () => (await findWriteProblem(written)) ?? tryToWrite?.() ?? null,
    findKeyProblem: () => findKeyProblem(keyFile, keyring),
  }
}

/** Null when all of them can be written to. */
export async function findWriteProblem(written: readonly string[]): Promise<string | null> {
  try {
    await Promise.all(written.map((place) => access(place, constants.W_OK)))
    return null
  } catch (cause) {
    return reasonOf(cause)
  }
}

/**
 * Null when the key file still holds the keys that the server opened it with. The server goes on with these, but the next
 * start could not.
 */
async function findKeyProblem(path: string, keyring: Keyring): Promise<string | null> {
  const remedy = `Put the right file back at ${path}, from your backup, before the next start: without it every push is lost.`
  try {
    const found = parseKeyFile(await readFile(path, 'utf8'))
    const isThere = ({ number, verifier }: Keyring['sealing']) =>
      found.keys.some((key) => key.number === number && Buffer.from(key.verifier).equals(verifier))
    return keyring.keys.every(isThere)
      ? null
      : `The key file does not hold the keys that this server runs with. ${remedy}`
  } catch (cause) {
    return `The key file cannot be used: ${reasonOf(cause)}. ${remedy}`
  }
}

/** Whether the files that SQLite has open are still those that the next start would read. */
export function watchPlace(path: string): () => boolean {
  const files = [path, `${path}-wal`]
  const inodeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.ino
  const opened = files.map(inodeOf)
  return () => files.every((file, index) => inodeOf(file) === opened[index])
}
