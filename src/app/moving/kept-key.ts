// The key file in the folder of a source that is destroyed: it goes only when the target keeps every key in it.

import { lstatSync } from 'node:fs'
import { resolve } from 'node:path'
import { fingerprint, type Keyring } from '../../crypto/keyring.ts'
import { DomainError } from '../../domain/errors.ts'
import { dataFolder } from '../../store/folder/data-folder.ts'
import { readKeyFile } from '../../store/folder/key-file.ts'
import { isReadThrough } from '../../store/folder/same-place.ts'
import { findKeyPlaces } from './keys.ts'
import type { MoveWish } from './wish.ts'

/** `why` is told: null when the target uses this very file, as its operator knows. */
export type KeptKey = { isKept: false } | { isKept: true; why: string | null }

/** Throws `conflict` when the key file of the target is not known, or cannot be read: it may hold nothing. */
export function decideKey(wish: MoveWish): KeptKey {
  if (wish.from.kind !== 'folder') return { isKept: true, why: null }
  const { key } = dataFolder(resolve(wish.from.path))
  if (lstatSync(key, { throwIfNoEntry: false }) === undefined) return { isKept: false }
  const { to } = findKeyPlaces(wish)
  if (to === null)
    throw new DomainError(
      'conflict',
      `--key-file is missing: name the key file of the target, because ${key} is destroyed and may be the last copy of the key. ` +
        'Nothing was destroyed.',
    )
  const kept = readKept(to)
  if (isReadThrough(key, to)) return { isKept: true, why: null }
  const lacking = findLacking(readKeyFile(key), kept)
  return lacking === null
    ? { isKept: false }
    : { isKept: true, why: `The key file ${key} stays, because ${to} does not hold ${lacking}.` }
}

function readKept(path: string): Keyring {
  try {
    return readKeyFile(path)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new DomainError(
      'conflict',
      `${why} The target cannot be served without its key, and what opens the source may be the last copy: nothing was destroyed.`,
    )
  }
}

function findLacking(keyring: Keyring, kept: Keyring): string | null {
  const lacking = keyring.keys.find(
    ({ number, verifier }) =>
      !kept.keys.some((key) => key.number === number && Buffer.from(key.verifier).equals(verifier)),
  )
  return lacking === undefined ? null : `key ${lacking.number} (${fingerprint(lacking.verifier)})`
}
