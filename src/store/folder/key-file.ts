// A key file that lies outside the data folder, and a look at any that makes none.

import { accessSync, constants, existsSync, lstatSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Keyring, newKeyFile, parseKeyFile } from '../../crypto/keyring.ts'
import { DomainError } from '../../domain/errors.ts'
import { reasonOf } from '../../domain/system-errors.ts'
import { type DataFolder, explained, readKeyring, writeDurably } from './data-folder.ts'
import { KEY_FILE, requireOwn } from './ownership.ts'

/** Never makes one. Throws `conflict` when it cannot be read, or belongs to somebody else. */
export function readKeyFile(path: string): Keyring {
  requireOwn(path, KEY_FILE, { mayBeRoots: true })
  try {
    return parseKeyFile(readFileSync(path, 'utf8'))
  } catch (cause) {
    const why = reasonOf(cause)
    throw new DomainError('conflict', `Cannot use the key file ${path}: ${why}.`)
  }
}

/** Makes a key file for the first time. Throws `conflict` when something is there, or when it cannot be written. */
export function makeKeyFile(path: string): Keyring {
  if (existsSync(path))
    throw new DomainError(
      'conflict',
      `${path} exists already, and was not changed, because a new key cannot open what the old one has sealed. Name another file, or use this one.`,
    )
  try {
    const text = newKeyFile()
    writeDurably(path, text)
    return parseKeyFile(text)
  } catch (cause) {
    throw new DomainError(
      'conflict',
      `Cannot write the key file ${path}: ${reasonOf(cause)}.${folderRemedy(path)}`,
    )
  }
}

/** As readKeyring, but makes nothing: null where that would make a key. */
export function lookAtKeyring(folder: DataFolder, keyFile: string | null): Keyring | null {
  const path = keyFile ?? folder.key
  const isThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined
  if (isThere || existsSync(folder.database)) return readKeyring(folder, keyFile)
  if (keyFile !== null) explained('write the key file', path, () => accessSync(dirname(path), constants.W_OK))
  return null
}

/** A sentence for the operator, when the folder of a file is missing. */
function folderRemedy(path: string): string {
  const folder = dirname(path)
  return existsSync(folder) ? '' : ` Make the folder first: mkdir -p ${folder}`
}
