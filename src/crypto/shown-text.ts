// Texts that a page has shown, sealed into its form, so that the server gives back as a file only what it showed.

import type { Keyring } from './keyring.ts'
import { openWithKeyring, sealWithKeyring } from './sealed-field.ts'

const PLACE = { subkey: 'grants', subject: new Uint8Array(), field: 'text' } as const

export function sealShownText(text: string, keyring: Keyring): string {
  return sealWithKeyring(Buffer.from(text), keyring, PLACE).toString('base64url')
}

/** Null when this server did not make it or it was altered. */
export function openShownText(text: string, keyring: Keyring): string | null {
  const sealed = Buffer.from(text, 'base64url')
  // Decoding base64url is lenient: accept only the exact spelling that was issued.
  if (sealed.toString('base64url') !== text) return null
  return openWithKeyring(sealed, keyring, PLACE)?.toString('utf8') ?? null
}
