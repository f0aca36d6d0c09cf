// Signatures of OpenPGP (RFC 9580, version 4), the only format of apt and rpm, by the release key, which is
// an Ed25519 key of minisign. Sharing the key is safe: minisign signs BLAKE2b digests, or a signature with
// its comment, and this file SHA-512 digests, so a signature in one format is never valid in the other.

import { createHash, createPublicKey, sign } from 'node:crypto'
import type { SigningKey } from './minisign.ts'
import { MAINTAINER } from './package-files.ts'

export type OpenPgpSigner = ReturnType<typeof createOpenPgpSigner>

/**
 * The creation time of the key, which is part of its fingerprint. A minisign key has none, so this is a fixed
 * date before every release.
 */
const KEY_TIME = 1_577_836_800
const ED25519 = Buffer.from('092b06010401da470f01', 'hex')
const [EDDSA, SHA512] = [22, 10]
const [BINARY, TEXT, CERTIFICATION] = [0x00, 0x01, 0x13]
const [PUBLIC_KEY, USER_ID, SIGNATURE] = [6, 13, 2]

/** `time`, in seconds, is that of all signatures. */
export function createOpenPgpSigner({ key }: SigningKey, time: number) {
  const point = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32)
  const publicKey = Buffer.concat([
    Buffer.from([4]),
    uint32(KEY_TIME),
    Buffer.from([EDDSA]),
    ED25519,
    integer(Buffer.concat([Buffer.from([0x40]), point])),
  ])
  const hashedKey = Buffer.concat([Buffer.from([0x99]), uint16(publicKey.length), publicKey])
  const fingerprint = createHash('sha1').update(hashedKey).digest()
  const user = Buffer.from(MAINTAINER)

  function signatureOf(type: number, signed: Uint8Array, at: number, more: readonly Buffer[] = []): Buffer {
    const hashed = Buffer.concat([
      subpacket(33, Buffer.concat([Buffer.from([4]), fingerprint])),
      subpacket(2, uint32(at)),
      ...more,
    ])
    const head = Buffer.concat([Buffer.from([4, type, EDDSA, SHA512]), uint16(hashed.length), hashed])
    const trailer = Buffer.concat([Buffer.from([4, 0xff]), uint32(head.length)])
    const digest = createHash('sha512').update(signed).update(head).update(trailer).digest()
    const made = sign(null, digest, key)
    const unhashed = subpacket(16, fingerprint.subarray(-8))
    const parts = [head, uint16(unhashed.length), unhashed, digest.subarray(0, 2)]
    return packet(
      SIGNATURE,
      Buffer.concat([...parts, integer(made.subarray(0, 32)), integer(made.subarray(32))]),
    )
  }

  const at = Math.max(time, KEY_TIME)
  const certified = Buffer.concat([hashedKey, Buffer.from([0xb4]), uint32(user.length), user])
  // The key may certify (1) and sign (2).
  const certification = signatureOf(CERTIFICATION, certified, KEY_TIME, [subpacket(27, Buffer.from([3]))])
  return {
    fingerprint: fingerprint.toString('hex').toUpperCase(),
    /** The public key, for apt, rpm and gpg. */
    publicKey: armour(
      'PUBLIC KEY BLOCK',
      Buffer.concat([packet(PUBLIC_KEY, publicKey), packet(USER_ID, user), certification]),
    ),
    signatureOf: (bytes: Uint8Array) => signatureOf(BINARY, bytes, at),
    armouredSignatureOf: (bytes: Uint8Array) => armour('SIGNATURE', signatureOf(BINARY, bytes, at)),
    /** Returns the text with its signature. The text must not contain trailing blanks. */
    clearsigned(text: string): string {
      const lines = text.replace(/\n$/, '').split('\n')
      const signature = signatureOf(TEXT, Buffer.from(lines.join('\r\n')), at)
      const escaped = lines.map((line) => (line.startsWith('-') ? `- ${line}` : line))
      const start = ['-----BEGIN PGP SIGNED MESSAGE-----', 'Hash: SHA512', '', ...escaped, '']
      return start.join('\n') + armour('SIGNATURE', signature)
    },
  }
}

function uint16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** Returns a packet of at most 8,383 bytes, in the current format. */
function packet(tag: number, body: Buffer): Buffer {
  const beyond = body.length - 192
  const length = beyond < 0 ? [body.length] : [192 + (beyond >> 8), beyond & 0xff]
  return Buffer.concat([Buffer.from([0xc0 | tag, ...length]), body])
}

function subpacket(type: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from([body.length + 1, type]), body])
}

/** Returns a multiprecision integer: its length in bits, and its bytes without leading zeros. */
function integer(bytes: Buffer): Buffer {
  const from = bytes.findIndex((byte) => byte !== 0)
  const trimmed = bytes.subarray(from < 0 ? bytes.length : from)
  const bits = trimmed.length === 0 ? 0 : trimmed.length * 8 - (Math.clz32(trimmed[0] ?? 0) - 24)
  return Buffer.concat([uint16(bits), trimmed])
}

function armour(kind: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? []
  const sum = Buffer.from([...uint32(checksumOf(bytes)).subarray(1)]).toString('base64')
  return [`-----BEGIN PGP ${kind}-----`, '', ...lines, `=${sum}`, `-----END PGP ${kind}-----`, ''].join('\n')
}

/** CRC-24, without which rpm reads no key. */
function checksumOf(bytes: Uint8Array): number {
  let sum = 0xb704ce
  for (const byte of bytes) {
    sum ^= byte << 16
    for (let bit = 0; bit < 8; bit += 1) sum = sum & 0x800000 ? (sum << 1) ^ 0x1864cfb : sum << 1
  }
  return sum & 0xffffff
}
