// What an owner sees of a push in lists, sealed under the owner subkey: the link's token, name and note. They may be sealed
// under another instance key than the push: a rotation of the keys seals them anew.

import type { Keyring } from '../crypto/keyring.ts'
import { openWithKeyring, sealWithKeyring } from '../crypto/sealed-field.ts'
import { DamageError } from '../domain/errors.ts'
import type { SealedLabels } from '../store/sealed-face.ts'

export type Labels = { urlToken: string; name: string; note: string }

/** The push and its account: labels of which the database names another one do not open. */
export type Place = { keyring: Keyring; pushId: Uint8Array; ownerId: number | null }
/** `pushName` names the push in a DamageError. */
type NamedPlace = Place & { pushName: string }

export function sealLabels({ urlToken, name, note }: Labels, place: Place): SealedLabels {
  return {
    urlToken: seal('url_token', urlToken, place),
    name: sealLabel('name', name, place),
    note: sealLabel('note', note, place),
  }
}

/** Null for a label that is not there. */
export function sealLabel(field: 'name' | 'note', text: string, place: Place): Buffer | null {
  return text === '' ? null : seal(field, text, place)
}

/** Throws DamageError when decryption fails, because the database was altered. */
export function openLabels({ urlToken, ...texts }: SealedLabels, place: NamedPlace): Labels {
  return { urlToken: open('url_token', urlToken, place), ...openTexts(texts, place) }
}

/** The same without the link's token. */
export function openTexts({ name, note }: Omit<SealedLabels, 'urlToken'>, place: NamedPlace) {
  return {
    name: name === null ? '' : open('name', name, place),
    note: note === null ? '' : open('note', note, place),
  }
}

function seal(field: string, text: string, { keyring, ...push }: Place): Buffer {
  return sealWithKeyring(Buffer.from(text), keyring, placeOf(field, push))
}

function open(field: string, sealed: Uint8Array, { keyring, pushName, ...push }: NamedPlace): string {
  const bytes = openWithKeyring(sealed, keyring, placeOf(field, push))
  if (bytes === null) throw new DamageError(pushName)
  return new TextDecoder().decode(bytes)
}

function placeOf(field: string, { pushId, ownerId }: Omit<Place, 'keyring'>) {
  const owner = Buffer.alloc(8)
  owner.writeBigUInt64BE(BigInt(ownerId ?? 0))
  return { subkey: 'owner', subject: Buffer.concat([pushId, owner]), field } as const
}
