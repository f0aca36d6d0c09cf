// The mark of the sender of a push, who may see whether it was opened, also without an account. Nothing is stored: the mark is sealed.

import type { Keyring } from '../crypto/keyring.ts'
import { openFromText, sealToText } from '../crypto/sealed-field.ts'

export type SenderMarks = ReturnType<typeof createSenderMarks>

export function createSenderMarks(keyring: Keyring) {
  return {
    seal: (urlToken: string) => sealToText('', keyring, placeOf(urlToken)),
    /** Whether this server sealed it for this push. */
    isOf: (mark: string, urlToken: string) => openFromText(mark, keyring, placeOf(urlToken)) !== null,
  }
}

function placeOf(urlToken: string) {
  return { subkey: 'grants', subject: Buffer.from(urlToken), field: 'sender' } as const
}
