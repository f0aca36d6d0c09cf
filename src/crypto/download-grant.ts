// Download grants: all that a download needs, sealed into its URL, so that the server stores nothing readable for it.

import type { Keyring } from './keyring.ts'
import { openFromText, sealToText } from './sealed-field.ts'

/** A stored file, and the key that opens it. */
export type FileOfGrant = {
  file: string
  /** The file's own key, in base64. */
  key: string
  filename: string
  size: number
}

type Until = {
  /** The push's lookup, in hex. */
  push: string
  /** Milliseconds since 1970. */
  until: number
}

export type FileGrant = Until & FileOfGrant & { contentType: string }

/** For several files of a push in one archive, in this order and under these names. */
export type ArchiveGrant = Until & { files: FileOfGrant[] }

export type Grant = FileGrant | ArchiveGrant

const PLACE = { subkey: 'grants', subject: new Uint8Array(), field: 'grant' } as const

export function sealGrant(grant: Grant, keyring: Keyring): string {
  return sealToText(JSON.stringify(grant), keyring, PLACE)
}

/** Null when this server did not make it or it was altered. Does not check `until`. */
export function openGrant(text: string, keyring: Keyring): Grant | null {
  const opened = openFromText(text, keyring, PLACE)
  return opened === null ? null : JSON.parse(opened)
}
