// Verifies signatures of minisign (https://jedisct1.github.io/minisign/): its prehashed form, and the signed
// comment.

import { createHash, createPublicKey, verify } from 'node:crypto'

const KEY_BYTES = 42
const SIGNATURE_BYTES = 74
/** The second signature covers the first and the trusted comment. */
const OVERALL_BYTES = 64
const ID = { from: 2, to: 10 }
/** Turns the 32 bytes of an Ed25519 key into an SPKI that node:crypto reads (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')

export type PublicKey = { id: Buffer; bytes: Buffer; text: string }

export type Signature = { id: Buffer; bytes: Buffer; comment: string; overall: Buffer }

/** Parses one key as minisign prints it: `RW` and 54 more characters. Returns null for anything else. */
export function parsePublicKey(text: string): PublicKey | null {
  const bytes = decode(text.trim(), KEY_BYTES)
  if (bytes?.subarray(0, ID.from).toString('latin1') !== 'Ed') return null
  return { id: bytes.subarray(ID.from, ID.to), bytes: bytes.subarray(ID.to), text: text.trim() }
}

/** Reads one key a line, as in minisign's `.pub` files. Null when a line is neither a key nor a comment. */
export function parsePublicKeys(text: string): PublicKey[] | null {
  const lines = text.split(/\r?\n/).map((line) => line.trim())
  const keys = lines
    .filter((line) => line !== '' && !/^(#|untrusted comment:)/.test(line))
    .map(parsePublicKey)
  const known = keys.filter((key) => key !== null)
  return known.length === keys.length ? known : null
}

/**
 * Parses a `.minisig` file. Returns null for other content, and for a signature in the old form, which is not
 * prehashed.
 */
export function parseSignature(text: string): Signature | null {
  const [first = '', signature = '', third = '', last = '', ...rest] = text
    .replaceAll('\r\n', '\n')
    .split('\n')
  const bytes = decode(signature, SIGNATURE_BYTES)
  const overall = decode(last, OVERALL_BYTES)
  const [, comment] = /^trusted comment: (.*)$/.exec(third) ?? []
  const isWhole = first.startsWith('untrusted comment:') && rest.join('').trim() === ''
  if (!isWhole || comment === undefined || overall === null) return null
  if (bytes?.subarray(0, ID.from).toString('latin1') !== 'ED') return null
  return { id: bytes.subarray(ID.from, ID.to), bytes: bytes.subarray(ID.to), comment, overall }
}

/** Decodes base64 strictly: null for other characters and for another length. */
function decode(text: string, length: number): Buffer | null {
  const bytes = Buffer.from(text, 'base64')
  return bytes.length === length && bytes.toString('base64') === text ? bytes : null
}

/** Returns the hash of a file that minisign signs. */
export function hashForSigning(bytes: Uint8Array): Buffer {
  return createHash('blake2b512').update(bytes).digest()
}

type SignatureVerdict = 'good' | 'unknown key' | 'wrong file' | 'wrong comment'

/** Whether one of the keys signed the file with this hash, and the comment. */
export function verifySignature(
  hash: Buffer,
  signature: Signature,
  keys: readonly PublicKey[],
): SignatureVerdict {
  const key = keys.find(({ id }) => id.equals(signature.id))
  if (key === undefined) return 'unknown key'
  const der = Buffer.concat([SPKI_PREFIX, key.bytes])
  const publicKey = createPublicKey({ key: der, format: 'der', type: 'spki' })
  if (!verify(null, hash, publicKey, signature.bytes)) return 'wrong file'
  const commented = Buffer.concat([signature.bytes, Buffer.from(signature.comment)])
  return verify(null, commented, publicKey, signature.overall) ? 'good' : 'wrong comment'
}
