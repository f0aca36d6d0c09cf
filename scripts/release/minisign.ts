// Signatures in the format of minisign (https://jedisct1.github.io/minisign/): prehashed, with a signed
// comment.

import { createHash, createPrivateKey, createPublicKey, type KeyObject, scryptSync, sign } from 'node:crypto'

export type SigningKey = { id: Buffer; key: KeyObject }

// The secret key's file: algorithms (2 bytes each), salt, limits of scrypt, then id, key and checksum,
// perhaps encrypted.
const SIZE = 158
const SALT = 6
const OPERATIONS = 38
const MEMORY = 46
const SECRET = 54
const ID_BYTES = 8
const SEED_BYTES = 32
const PUBLIC_BYTES = 32
const CHECKSUM = 72
/** Converts a seed to a key for node:crypto: PKCS #8 for Ed25519 (RFC 8410). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

/** Whether the secret key in the file is encrypted by a password. Throws when it is not a secret key. */
export function needsPassword(file: string): boolean {
  return partsOf(file).subarray(2, 4).toString() === 'Sc'
}

/** Reads a secret key of minisign. Throws when it is invalid or the password is wrong. */
export function readSigningKey(file: string, password: string | null): SigningKey {
  const parts = partsOf(file)
  const secret = Buffer.from(parts.subarray(SECRET))
  if (password !== null) {
    const stream = keyStream(parts, password)
    for (let at = 0; at < secret.length; at += 1) secret.writeUInt8((secret[at] ?? 0) ^ (stream[at] ?? 0), at)
  }
  const seed = secret.subarray(ID_BYTES, ID_BYTES + SEED_BYTES)
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' })
  // Keys without a password have no checksum, but each is followed by its public half.
  const publicHalf = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-PUBLIC_BYTES)
  if (!publicHalf.equals(secret.subarray(ID_BYTES + SEED_BYTES, CHECKSUM)))
    throw new Error(password === null ? 'the secret key is damaged' : 'the password is wrong')
  return { id: secret.subarray(0, ID_BYTES), key }
}

function partsOf(file: string): Buffer {
  const parts = Buffer.from(file.trim().split(/\r?\n/)[1] ?? '', 'base64')
  const isKnown =
    parts.length === SIZE &&
    parts.subarray(0, 2).toString() === 'Ed' &&
    parts.subarray(4, 6).toString() === 'B2'
  if (!isKnown) throw new Error('this is not a secret key of minisign (minisign -G makes one)')
  return parts
}

/** Derives the key that encrypts the secret part: scrypt, with parameters from limits as in libsodium. */
function keyStream(parts: Buffer, password: string): Buffer {
  const operations = Math.max(Number(parts.readBigUInt64LE(OPERATIONS)), 32_768)
  const memory = Number(parts.readBigUInt64LE(MEMORY))
  const r = 8
  const isByOperations = operations < memory / 32
  const most = isByOperations ? operations / (r * 4) : memory / (r * 128)
  const N = 2 ** Math.max(1, Math.floor(Math.log2(most)))
  const p = isByOperations ? 1 : Math.max(1, Math.floor(Math.min(operations / 4 / N, 0x3fffffff) / r))
  const maxmem = 256 * r * N + 1024 * 1024 * p
  return scryptSync(password, parts.subarray(SALT, OPERATIONS), SIZE - SECRET, { N, r, p, maxmem })
}

/** Returns the text of the `.minisig` file. The comment is signed too. */
export function signFile(bytes: Uint8Array, { id, key }: SigningKey, comment: string): string {
  const signature = sign(null, createHash('blake2b512').update(bytes).digest(), key)
  const overall = sign(null, Buffer.concat([signature, Buffer.from(comment)]), key)
  const first = Buffer.concat([Buffer.from('ED'), id, signature]).toString('base64')
  return [
    'untrusted comment: signature of a release of Oncebox',
    first,
    `trusted comment: ${comment}`,
    overall.toString('base64'),
    '',
  ].join('\n')
}
