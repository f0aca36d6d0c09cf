// Encrypts answers for an age public key (https://age-encryption.org/v1) while they arrive. Nothing here can
// decrypt them.

import { sha256 } from '../crypto/digest.ts'
import { fingerprint } from '../crypto/keyring.ts'
import { ageRecipient } from '../domain/age-recipient.ts'
import { invalidFields } from '../domain/errors.ts'
import { ANY_TYPE } from '../domain/files.ts'
import type { IncomingFile } from '../pushes/uploads.ts'
import { safeFilenames } from '../text/safe-filename.ts'

/** Loaded on first use, because loading takes long. */
const loadSealing = () => import('../age/sealing.ts')

/** Returns a fingerprint that people compare: `3f2a-91c0-…`. */
export function fingerprintOfRecipient(recipient: string): string {
  return fingerprint(sha256(recipient))
}

/**
 * Throws `invalid` unless encrypting for the key works. A key may have a valid checksum but be no point on
 * its curve.
 */
export async function requireRecipient(recipient: string): Promise<void> {
  try {
    if ('value' in ageRecipient(recipient)) return void (await encryptText(recipient, ''))
  } catch {}
  throw invalidFields({ recipient: [{ code: 'not_recipient' }] })
}

/** Encrypts a text, ASCII-armoured. */
export async function encryptText(recipient: string, text: string): Promise<string> {
  return (await loadSealing()).sealText(text, [recipient])
}

/**
 * Encrypts the `n`th file of an answer, as `n.age`, while it arrives. The number of files is not known yet.
 */
export function encryptFile(
  recipient: string,
  file: IncomingFile,
  { n, at }: { n: number; at: number },
): IncomingFile {
  const [name = file.filename] = safeFilenames([file.filename], { platform: 'win32' })
  async function* read(): AsyncGenerator<Uint8Array> {
    const { sealFile } = await loadSealing()
    yield* await sealFile({ name, content: file.content, at, position: null }, [recipient])
  }
  return { filename: `${n}.age`, contentType: ANY_TYPE, content: read() }
}
