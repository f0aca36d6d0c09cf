// The key file: in the data folder, or elsewhere.

import { accessSync, constants, existsSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { type Keyring, newKeyFile, parseKeyFile } from '../../crypto/keyring.ts'
import { conflict, type DomainError } from '../../domain/errors.ts'
import { reasonOf } from '../../domain/system-errors.ts'
import { type DataFolder, explained } from './data-folder.ts'
import { removeUnfinished, replaceText, writeNew } from './durable-files.ts'
import { KEY_FILE, requireOwn } from './ownership.ts'

/** Returns the keyring of a data folder. Creates the key file only if there is no database yet. */
export function readKeyring(folder: DataFolder, keyFile: string | null): Keyring {
  const path = keyFile ?? folder.key
  return explained('use the key file', path, () => {
    // Accept files of root, because container platforms mount key files so.
    requireOwn(path, KEY_FILE, { mayBeRoots: keyFile !== null })
    if (!isThere(path)) {
      if (existsSync(folder.database)) throw missing(path)
      explained('write the key file', path, () => writeNew(path, newKeyFile()))
    }
    return parseKeyFile(readFileSync(path, 'utf8'))
  })
}

/** Reads the keyring like `readKeyring`, but creates no key: returns null instead. */
export function lookAtKeyring(folder: DataFolder, keyFile: string | null): Keyring | null {
  const path = keyFile ?? folder.key
  if (isThere(path) || existsSync(folder.database)) return readKeyring(folder, keyFile)
  if (keyFile !== null) explained('write the key file', path, () => accessSync(dirname(path), constants.W_OK))
  return null
}

/** Returns whether the path exists, as a dangling symlink too. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function missing(path: string): DomainError {
  return conflict(
    `The key file ${path} is missing beside an existing database. Put the file back, or name it with --key-file. A new key cannot ` +
      'decrypt existing pushes.',
  )
}

/** Read-only: creates no key file. Throws `conflict` when it cannot be read, or belongs to another user. */
export function readKeyFile(path: string): Keyring {
  return parseKeyFile(readKeyText(path))
}

/** Returns the text of a key file that can be parsed. Throws `conflict` as `readKeyFile` does. */
export function readKeyText(path: string): string {
  requireOwn(path, KEY_FILE, { mayBeRoots: true })
  try {
    const text = readFileSync(path, 'utf8')
    parseKeyFile(text)
    return text
  } catch (cause) {
    throw conflict(`Cannot use the key file ${path}: ${reasonOf(cause)}.`)
  }
}

/**
 * Removes the leftovers of killed processes in the data folder and beside the key file, which may hold a
 * former key. Call this under the lock of the folder. Returns a sentence for the operator about leftovers
 * that cannot be removed, or null.
 */
export function removeLeftKeys(folder: DataFolder, keyFile: string | null): string | null {
  const given = keyFile ?? folder.key
  const path = existsSync(given) ? realpathSync(given) : given
  const left = [...removeUnfinished(folder.path), ...removeUnfinished(dirname(path), basename(path))]
  return left.length === 0
    ? null
    : `A killed process left ${left.join(', ')}, which may hold a former key, and this user cannot remove it: remove it by hand.`
}

/**
 * Replaces the text of a key file, and keeps its owner and mode. If it throws `conflict`, the old text is
 * still there.
 */
export function replaceKeyFile(path: string, text: string): void {
  try {
    replaceText(realpathSync(path), text)
  } catch (cause) {
    throw conflict(
      `Cannot write the key file ${path}: ${reasonOf(cause)}. Run this as a user who may write in its folder.`,
    )
  }
}

/** Creates a key file. Throws `conflict` when the path exists or cannot be written. */
export function makeKeyFile(path: string): Keyring {
  if (existsSync(path))
    throw conflict(
      `${path} exists already, and was not changed, because a new key cannot open what the old one has sealed. Name another file, or use this one.`,
    )
  try {
    removeUnfinished(dirname(path), basename(path))
    const text = newKeyFile()
    writeNew(path, text)
    return parseKeyFile(text)
  } catch (cause) {
    const remedy = existsSync(dirname(path)) ? '' : ` Make the folder first: mkdir -p ${dirname(path)}`
    throw conflict(`Cannot write the key file ${path}: ${reasonOf(cause)}.${remedy}`)
  }
}

/**
 * Whether others on this machine may read the file. Always false on Windows, where modes do not show this.
 */
export function isReadableByOthers(path: string): boolean {
  return process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0
}

/**
 * Finds why the next start could not use the key file; null while it contains the keys that the running
 * server uses.
 */
export async function findKeyProblem(path: string, keyring: Keyring): Promise<string | null> {
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
