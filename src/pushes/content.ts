// Decrypts the content of a push with its link and, if it has one, its passphrase. Counts no view. Names and
// types of files are sealed under the data key of their push, so they are lost with that key.

import { openSecrets } from '../crypto/push-secrets.ts'
import { openField, sealField } from '../crypto/sealed-field.ts'
import { DamageError } from '../domain/errors.ts'
import type { StoredFile } from '../domain/files.ts'
import type { SealedFile } from '../store/sealed-contract.ts'
import { nameOf } from './labels.ts'
import type { FoundPush } from './push-finder.ts'

export type Content = { payload: string; dataKey: Buffer; files: StoredFile[] }

/**
 * Returns null for an expired push and for a wrong passphrase. Throws DamageError when the link alone should
 * open the push.
 */
export function openPush(found: FoundPush, passphraseKey: Uint8Array | null): Content | null {
  const { push, sealed, instanceKey, urlToken } = found
  if (sealed === null) return null
  if (push.keyNumber !== instanceKey.number) throw new DamageError(nameOf(push))
  const { lookup: pushId, keyNumber } = push
  const opened = openSecrets(sealed.secrets, { instanceKey, pushId, urlToken, passphraseKey })
  if (opened === null && push.passphraseRequired) return null
  if (opened === null || opened.payload === null) throw new DamageError(nameOf(push))
  const { payload, dataKey } = opened
  const place = { pushId, dataKey, keyNumber, pushName: nameOf(push) }
  return { payload, dataKey, files: sealed.files.map((file) => openFile(file, place)) }
}

/** The push of a file, and the number of the instance key that wraps its data key. */
type FileContext = { pushId: Uint8Array; dataKey: Uint8Array; keyNumber: number }

export function sealFile({ id, size, filename, contentType }: StoredFile, place: FileContext): SealedFile {
  const seal = (field: string, text: string) =>
    sealField(Buffer.from(text), keyOf(place), placeOf(place, field, id))
  const sealed = { filename: seal('filename', filename), contentType: seal('content_type', contentType) }
  return { fileId: id, size, ...sealed }
}

/** Throws DamageError with `pushName` when decryption fails, which means the database was altered. */
function openFile(
  { fileId: id, size, ...sealed }: SealedFile,
  { pushName, ...place }: FileContext & { pushName: string },
): StoredFile {
  const open = (field: string, bytes: Uint8Array) => {
    const text = openField(bytes, keyOf(place), placeOf(place, field, id))
    if (text === null) throw new DamageError(pushName)
    return text.toString('utf8')
  }
  const contentType = open('content_type', sealed.contentType)
  return { id, size, filename: open('filename', sealed.filename), contentType }
}

function keyOf({ dataKey, keyNumber }: FileContext) {
  return { key: dataKey, number: keyNumber }
}

function placeOf({ pushId }: FileContext, field: string, id: string) {
  return { subject: pushId, field: `${field}/${id}` }
}
