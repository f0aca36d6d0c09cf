import { describe, expect, test } from 'bun:test'
import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, verify } from 'node:crypto'
import { needsPassword, readSigningKey, signFile } from '../../scripts/release/minisign.ts'

const ID = Buffer.from('0102030405060708', 'hex')

/** A secret key in the form that `minisign -G -W` writes. */
function newKeyFile() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32)
  const publicHalf = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  const parts = [Buffer.from('Ed\0\0B2'), Buffer.alloc(48), ID, seed, publicHalf, Buffer.alloc(32)]
  return { publicKey, file: `untrusted comment: a key\n${Buffer.concat(parts).toString('base64')}\n` }
}

function isSigned(bytes: Uint8Array, signed: string, publicKey: KeyObject): boolean {
  const [, first = '', comment = '', overall = ''] = signed.split('\n')
  const parts = Buffer.from(first, 'base64')
  expect(parts.subarray(0, 10)).toEqual(Buffer.concat([Buffer.from('ED'), ID]))
  const signature = parts.subarray(10)
  const trusted = Buffer.concat([signature, Buffer.from(comment.replace('trusted comment: ', ''))])
  const key = createPublicKey(publicKey.export({ format: 'pem', type: 'spki' }))
  const isWhole = verify(null, createHash('blake2b512').update(bytes).digest(), key, signature)
  return isWhole && verify(null, trusted, key, Buffer.from(overall, 'base64'))
}

describe('a signature of minisign', () => {
  const { publicKey, file } = newKeyFile()
  const bytes = Buffer.from('an executable')
  const signed = signFile(bytes, readSigningKey(file, null), 'oncebox 3.1.0 linux-x64')

  test('signs the file and the comment that names version and system', () => {
    expect(signed).toContain('\ntrusted comment: oncebox 3.1.0 linux-x64\n')
    expect(isSigned(bytes, signed, publicKey)).toBe(true)
  })

  test('does not match another file, another comment or another key', () => {
    expect(isSigned(Buffer.from('another'), signed, publicKey)).toBe(false)
    expect(isSigned(bytes, signed.replace('3.1.0', '3.2.0'), publicKey)).toBe(false)
    expect(isSigned(bytes, signed, newKeyFile().publicKey)).toBe(false)
  })
})

test('a file without a secret key is refused, and so is a damaged key', () => {
  const { file } = newKeyFile()
  expect(needsPassword(file)).toBe(false)
  expect(() => readSigningKey('untrusted comment: x\nRWQ=\n', null)).toThrow('not a secret key of minisign')
  const [first, key = ''] = file.split('\n')
  const damaged = Buffer.from(key, 'base64')
  damaged.writeUInt8((damaged[70] ?? 0) ^ 1, 70)
  expect(() => readSigningKey(`${first}\n${damaged.toString('base64')}`, null)).toThrow('damaged')
})
