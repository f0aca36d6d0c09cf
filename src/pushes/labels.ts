// Labels: the sealed facts about a push for its owner's lists. These are the link's token, name and note, and
// the token of the request that it answers. They are sealed under the owner subkey and resealed by a key
// rotation, so that their key may differ from the push's. Texts of requests are sealed in the same way.

import type { Keyring } from '../crypto/keyring.ts'
import { openWithKeyring, sealWithKeyring } from '../crypto/sealed-field.ts'
import { DamageError } from '../domain/errors.ts'
import type { SealedLabels } from '../store/sealed-contract.ts'

/**
 * `request` is the token of the request that the push answers; '' when a restore has lost it, null for any
 * other push.
 */
export type Labels = { urlToken: string; name: string; note: string; request: string | null }

/**
 * The lookup of the push or request and its account, authenticated with each label, so a label of another row
 * does not open.
 */
export type LabelContext = { keyring: Keyring; pushId: Uint8Array; ownerId: number | null }
/** `pushName` names the push in a DamageError. */
export type NamedLabelContext = LabelContext & { pushName: string }

type PushKeys = { id: number; lookup: Uint8Array; ownerId: number | null }

export function placeOfPush({ id, lookup, ownerId }: PushKeys, keyring: Keyring): NamedLabelContext {
  return { keyring, pushId: lookup, ownerId, pushName: nameOf({ id }) }
}

/** Returns the name of a push for a DamageError. */
export function nameOf({ id }: { id: number }): string {
  return `push ${id}`
}

export function sealLabels(
  { urlToken, name, note, request }: Labels,
  place: LabelContext,
): Required<Omit<SealedLabels, 'namesRecipient'>> {
  return {
    urlToken: sealOwned('url_token', urlToken, place),
    name: sealLabel('name', name, place),
    note: sealLabel('note', note, place),
    request: request === null ? null : sealRequest(request, place),
  }
}

function sealRequest(urlToken: string, place: LabelContext): Uint8Array {
  return urlToken === '' ? new Uint8Array() : sealOwned('request', urlToken, place)
}

/** Returns null for an empty label. */
export function sealLabel(field: string, text: string, place: LabelContext): Buffer | null {
  return text === '' ? null : sealOwned(field, text, place)
}

/** Throws DamageError when decryption fails, because the database was altered. */
export function openLabels(
  { urlToken, request = null, ...texts }: SealedLabels,
  place: NamedLabelContext,
): Labels {
  return {
    urlToken: openOwned('url_token', urlToken, place),
    ...openTexts(texts, place),
    request: request?.length === 0 ? '' : request && openOwned('request', request, place),
  }
}

/** Opens name and note only. */
export function openTexts({ name, note }: Pick<SealedLabels, 'name' | 'note'>, place: NamedLabelContext) {
  return { name: openLabel('name', name, place), note: openLabel('note', note, place) }
}

/** Returns '' for a missing label. */
export function openLabel(field: string, sealed: Uint8Array | null, place: NamedLabelContext): string {
  return sealed === null ? '' : openOwned(field, sealed, place)
}

/** Seals a field of a push or request that only its account reads. */
export function sealOwned(field: string, text: string, { keyring, ...push }: LabelContext): Buffer {
  return sealWithKeyring(Buffer.from(text), keyring, placeOf(field, push))
}

/** Opens the push for its owner. Throws as `openLabels` does. */
export function openOwned(
  field: string,
  sealed: Uint8Array,
  { keyring, pushName, ...push }: NamedLabelContext,
): string {
  const bytes = openWithKeyring(sealed, keyring, placeOf(field, push))
  if (bytes === null) throw new DamageError(pushName)
  return new TextDecoder().decode(bytes)
}

function placeOf(field: string, { pushId, ownerId }: Omit<LabelContext, 'keyring'>) {
  const owner = Buffer.alloc(8)
  owner.writeBigUInt64BE(BigInt(ownerId ?? 0))
  return { subkey: 'owner', subject: Buffer.concat([pushId, owner]), field } as const
}
