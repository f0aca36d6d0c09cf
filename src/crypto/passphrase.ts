// Derives a key from a passphrase with argon2id (RFC 9106); the parameters are stored with the salt.

import { argon2 } from 'node:crypto'
import { randomKey } from './random.ts'

const FORMAT = 1
const SALT_BYTES = 16
const KEY_BYTES = 32
const LANES = 1

/** The cost of argon2id: memory, and passes over it. */
export type Argon2Cost = { memoryKib: number; passes: number }

/** The cost for passphrases and passwords, about 100 ms. */
export const ARGON2_COST: Argon2Cost = { memoryKib: 19 * 1024, passes: 2 }

/** Makes a new salt with its parameters: format, memory in KiB (4 bytes), passes, lanes, 16 random bytes. */
export function newPassphraseSalt({ memoryKib, passes }: Argon2Cost): Buffer {
  const head = Buffer.alloc(7)
  head.writeUInt8(FORMAT, 0)
  head.writeUInt32BE(memoryKib, 1)
  head.writeUInt8(passes, 5)
  head.writeUInt8(LANES, 6)
  return Buffer.concat([head, randomKey(SALT_BYTES)])
}

/** Derives 32 bytes from a passphrase, on another thread. */
export function derivePassphraseKey(passphrase: string, salt: Uint8Array): Promise<Uint8Array> {
  const head = Buffer.from(salt.buffer, salt.byteOffset, salt.length)
  const parameters = {
    message: Buffer.from(passphrase),
    nonce: head.subarray(7),
    memory: head.readUInt32BE(1),
    passes: head.readUInt8(5),
    parallelism: head.readUInt8(6),
    tagLength: KEY_BYTES,
  }
  return new Promise((resolve, reject) => {
    argon2('argon2id', parameters, (error, key) => (error === null ? resolve(key) : reject(error)))
  })
}
