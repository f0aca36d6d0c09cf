// The instance key of a move: what the source was written with must be what the target is served with.

import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { findKey, fingerprint } from '../../crypto/keyring.ts'
import { DomainError } from '../../domain/errors.ts'
import { reasonOf } from '../../domain/system-errors.ts'
import { dataFolder, writeDurably } from '../../store/folder/data-folder.ts'
import { folderRemedy, readKeyFile } from '../../store/folder/key-file.ts'
import type { MovingReader } from '../../store/moving-face.ts'
import type { MoveWish } from './wish.ts'

export type KeyPlaces = {
  /** Null when it is not known. */
  from: string | null
  to: string | null
}

type Wish = Pick<MoveWish, 'from' | 'to' | 'keyFile' | 'fromKeyFile' | 'toBucket'>

export function findKeyPlaces({ from, to, keyFile, fromKeyFile, toBucket }: Wish): KeyPlaces {
  const inFolder = from.kind === 'folder' ? dataFolder(resolve(from.path)).key : null
  const own = inFolder !== null && existsSync(inFolder) ? inFolder : null
  const inTarget = to.kind === 'folder' && toBucket === null ? dataFolder(resolve(to.path)).key : null
  const given = keyFile !== null && existsSync(keyFile) ? keyFile : null
  return { from: fromKeyFile ?? own ?? given, to: keyFile ?? inTarget }
}

/** What is missing, a sentence each. */
export function keyNeeds({ from, to }: KeyPlaces): string[] {
  return [
    ...(from === null
      ? [
          'The key file of the source is not known: name it with --from-key-file, or with --key-file where the target uses the same file.',
        ]
      : []),
    ...(to === null
      ? [
          '--key-file is missing: PostgreSQL and a bucket need the instance key in a file of its own. The move writes the key of the ' +
            'source there when the file does not exist.',
        ]
      : []),
  ]
}

type KnownKey = { number: number; verifier: Uint8Array }

/** Throws `conflict` unless the files that exist hold the keys that the source was written with. */
export async function requireKeys({ from, to }: KeyPlaces, reader: MovingReader): Promise<void> {
  const { items } = await reader.readRows('instanceKeys', null)
  const known = items.flatMap(({ number, verifier }) =>
    typeof number === 'number' && verifier instanceof Uint8Array ? [{ number, verifier }] : [],
  )
  if (from !== null) requireFitting(from, known)
  if (to !== null && to !== from && existsSync(to)) requireFitting(to, known)
}

function requireFitting(path: string, known: readonly KnownKey[]): void {
  const keyring = readKeyFile(path)
  for (const { number, verifier } of known) {
    const key = findKey(keyring, number)
    if (key !== null && Buffer.from(verifier).equals(key.verifier)) continue
    const found = key === null ? 'is not in it' : `has the fingerprint ${fingerprint(key.verifier)} there`
    throw new DomainError(
      'conflict',
      `The key file ${path} does not belong to the source of the move: key ${number} ${found}, and the source was written with ` +
        `${fingerprint(verifier)}. Name the right file, or a file that does not exist yet.`,
    )
  }
}

/** Writes the key to the place of the target, durably and closed to others, unless it is there. */
export function bringKey({ from, to }: KeyPlaces): void {
  if (from === null || to === null || existsSync(to)) return
  try {
    writeDurably(to, readFileSync(from, 'utf8'))
  } catch (cause) {
    throw new DomainError(
      'conflict',
      `Cannot write the key file ${to}: ${reasonOf(cause)}.${folderRemedy(to)}`,
    )
  }
}
