// Texts that a page has shown, for saving them as files without a script. The page holds the sealed text, so the server
// stores nothing and gives back only what it has shown.

import type { Keyring } from '../crypto/keyring.ts'
import { openFromText, sealToText } from '../crypto/sealed-field.ts'

export type ShownTexts = ReturnType<typeof createShownTexts>

const PLACE = { subkey: 'grants', subject: new Uint8Array(), field: 'text' } as const

export function createShownTexts(keyring: Keyring) {
  return {
    seal: (text: string) => sealToText(text, keyring, PLACE),
    /** Null when this server did not seal the text or it was altered. */
    open: (sealed: string) => openFromText(sealed, keyring, PLACE),
  }
}
