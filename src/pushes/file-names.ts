// Names and types of files, sealed under the data key of their push, so that they vanish with it.

import { openField, sealField } from '../crypto/sealed-field.ts'
import { DamageError } from '../domain/errors.ts'
import type { StoredFile } from '../domain/files.ts'
import type { SealedFile } from '../store/sealed-face.ts'

/** The push the files belong to, and the number of the instance key behind its data key. */
export type FileNamePlace = { pushId: Uint8Array; dataKey: Uint8Array; keyNumber: number }

export function sealFile({ id, size, filename, contentType }: StoredFile, place: FileNamePlace): SealedFile {
  const seal = (field: string, text: string) =>
    sealField(Buffer.from(text), keyOf(place), placeOf(place, field, id))
  return {
    fileId: id,
    size,
    filename: seal('filename', filename),
    contentType: seal('content_type', contentType),
  }
}

/** Throws DamageError, which contains `pushName`, when decryption fails, because the database was altered. */
export function openFile(
  { fileId: id, size, ...sealed }: SealedFile,
  { pushName, ...place }: FileNamePlace & { pushName: string },
): StoredFile {
  const open = (field: string, bytes: Uint8Array) => {
    const text = openField(bytes, keyOf(place), placeOf(place, field, id))
    if (text === null) throw new DamageError(pushName)
    return text.toString('utf8')
  }
  return {
    id,
    size,
    filename: open('filename', sealed.filename),
    contentType: open('content_type', sealed.contentType),
  }
}

function keyOf({ dataKey, keyNumber }: FileNamePlace) {
  return { key: dataKey, number: keyNumber }
}

function placeOf({ pushId }: FileNamePlace, field: string, id: string) {
  return { subject: pushId, field: `${field}/${id}` }
}
