// Signs releases for tests, in the format of minisign.

import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

export type Signer = ReturnType<typeof createSigner>

export function createSigner() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const id = randomBytes(8)
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)

  /** The text of a `.minisig` file. */
  function signBytes(bytes: Uint8Array, comment: string): string {
    const signature = sign(null, createHash('blake2b512').update(bytes).digest(), privateKey)
    const overall = sign(null, Buffer.concat([signature, Buffer.from(comment)]), privateKey)
    const first = Buffer.concat([Buffer.from('ED'), id, signature]).toString('base64')
    return `untrusted comment: a test\n${first}\ntrusted comment: ${comment}\n${overall.toString('base64')}\n`
  }

  return { publicKey: Buffer.concat([Buffer.from('Ed'), id, raw]).toString('base64'), signBytes }
}
