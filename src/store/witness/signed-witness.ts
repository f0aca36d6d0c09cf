// The text of a witness where others may write: with a mark that only nodes of the instance can make, for this one place.

import type { Keyring } from '../../crypto/keyring.ts'
import { findKey } from '../../crypto/keyring.ts'
import { isMarked, markWitness, type WitnessMark } from '../../crypto/witness-mark.ts'
import type { BucketPlace } from '../../domain/bucket-place.ts'
import { isWitness, parseJson, type SavedWitness } from './saved-witness.ts'

/** Where the text lies. A store may have another address one day, so that is no part of it. */
export type SignedPlace = Pick<BucketPlace, 'bucket' | 'prefix'>

export type Signing = { keyring: Keyring; place: SignedPlace }

const NOTE = 'The nodes of an Oncebox remember here how far their database was. Leave it here.'

export function presentSigned(witness: SavedWitness, { keyring, place }: Signing): string {
  return `${JSON.stringify({ note: NOTE, ...markWitness(signedText(witness, place), keyring), witness })}\n`
}

/** `key`: the number of the key that a node with another key file signed with; null when it is no witness of the instance at all. */
export type Unauthentic = { key: number | null }

/** Of the instance with this tag. Whoever copies a witness from another instance or place gains nothing by it. */
export function parseSigned(
  text: string,
  tag: string,
  { keyring, place }: Signing,
): { witness: SavedWitness } | Unauthentic {
  const found = parseJson(text)
  if (!isSigned(found) || found.witness.tag !== tag) return { key: null }
  const { key, mac, witness } = found
  if (findKey(keyring, key) === null) return { key }
  return isMarked(signedText(witness, place), { key, mac }, keyring) ? { witness } : { key: null }
}

type Signed = WitnessMark & { witness: SavedWitness }

function isSigned(found: unknown): found is Signed {
  if (typeof found !== 'object' || found === null) return false
  const { key, mac, witness } = found as Partial<Record<keyof Signed, unknown>>
  return typeof key === 'number' && typeof mac === 'string' && isWitness(witness)
}

/** Every member of the witness, in a fixed order. */
function signedText(witness: SavedWitness, { bucket, prefix }: SignedPlace): string {
  const { tag, beats, restoredAt, place, operations, isFinal, savedAt, node } = witness
  return JSON.stringify([
    'oncebox witness 1',
    ...[bucket, prefix, tag, beats, restoredAt, place, operations, isFinal, savedAt, node],
  ])
}
