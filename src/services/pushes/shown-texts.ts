// Texts that a page has shown, for saving as files without a script. Nothing is stored: the page holds the sealed text.

import type { Keyring } from '../../crypto/keyring.ts'
import { openShownText, sealShownText } from '../../crypto/shown-text.ts'

export type ShownTexts = ReturnType<typeof createShownTexts>

export function createShownTexts(keyring: Keyring) {
  return {
    seal: (text: string) => sealShownText(text, keyring),
    /** Null for what this server did not seal. */
    open: (sealed: string) => openShownText(sealed, keyring),
  }
}
