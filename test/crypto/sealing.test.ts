// Keys and sealed fields: only the right key and place open a value.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { fingerprint, newKeyFile, parseKeyFile } from '../../src/crypto/keyring.ts'
import { ARGON2_COST, derivePassphraseKey, newPassphraseSalt } from '../../src/crypto/passphrase.ts'
import { newDataKey, openSecrets, sealSecrets } from '../../src/crypto/push-secrets.ts'
import { openField, openForAccount, sealField, sealForAccount } from '../../src/crypto/sealed-field.ts'
import { apiTokenPrefix, hashToken, newApiToken } from '../../src/crypto/tokens.ts'
import { isUrlToken, lookupOf, newUrlToken } from '../../src/crypto/url-token.ts'

const key = { key: new Uint8Array(32).fill(7), number: 3 }
const place = { subject: new Uint8Array(16).fill(1), field: 'payload' }

test('sealing and opening gives back the same bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 3_000 }), (bytes) => {
      const opened = openField(sealField(bytes, key, place), key, place)
      expect(Buffer.from(opened ?? 'refused').equals(Buffer.from(bytes))).toBe(true)
    }),
  )
})

test('a sealed field with a flipped bit or a missing byte does not open', () => {
  const sealed = sealField(Buffer.from('payload'), key, place)
  for (let bit = 0; bit < sealed.length * 8; bit += 1) {
    const altered = Buffer.from(sealed)
    altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    expect(openField(altered, key, place)).toBeNull()
  }
  for (let length = 0; length < sealed.length; length += 1) {
    expect(openField(sealed.subarray(0, length), key, place)).toBeNull()
  }
})

test('a sealed field opens only in its place and under its key', () => {
  const sealed = sealField(Buffer.from('payload'), key, place)
  expect(openField(sealed, key, { ...place, field: 'name' })).toBeNull()
  expect(openField(sealed, key, { ...place, subject: new Uint8Array(16).fill(2) })).toBeNull()
  expect(openField(sealed, { ...key, number: 4 }, place)).toBeNull()
  expect(openField(sealed, { ...key, key: new Uint8Array(32) }, place)).toBeNull()
})

test('a value sealed for an account opens only for that account and as the same kind of value', () => {
  const keyring = parseKeyFile(newKeyFile())
  const fields = ['totp', 'webhook', 'link_mail', 'account_mail'] as const
  const places = [null, 1, 2, 11].flatMap((accountId) =>
    fields.map((field) => ({ accountId, field, keyring })),
  )
  for (const place of places) {
    const sealed = sealForAccount('secret', place)
    expect(places.filter((other) => openForAccount(sealed, other) !== null)).toEqual([place])
  }
})

test('a push opens only with the instance key, the link and the passphrase together', async () => {
  const [instanceKey, otherKey] = [parseKeyFile(newKeyFile()).sealing, parseKeyFile(newKeyFile()).sealing]
  const urlToken = newUrlToken()
  const salt = newPassphraseSalt(ARGON2_COST)
  const dataKey = newDataKey()
  const passphraseKey = await derivePassphraseKey('horse', salt)
  const opener = { instanceKey, pushId: lookupOf(urlToken, instanceKey.lookup), urlToken, passphraseKey }
  const sealed = { ...sealSecrets({ payload: 'pay\u0000löad 🎁 ', dataKey }, opener), passphraseSalt: salt }
  expect(openSecrets(sealed, opener)).toEqual({ payload: 'pay\u0000löad 🎁 ', dataKey })
  expect(openSecrets(sealed, { ...opener, urlToken: newUrlToken() })).toBeNull()
  expect(openSecrets(sealed, { ...opener, passphraseKey: null })).toBeNull()
  expect(
    openSecrets(sealed, { ...opener, passphraseKey: await derivePassphraseKey('house', salt) }),
  ).toBeNull()
  expect(openSecrets(sealed, { ...opener, instanceKey: otherKey })).toBeNull()
  // The result for an altered payload differs from that for a wrong passphrase.
  const payload = Uint8Array.from(sealed.payload, (byte, at) => (at === 20 ? byte ^ 1 : byte))
  expect(openSecrets({ ...sealed, payload }, opener)).toEqual({ payload: null, dataKey })
  expect(Buffer.concat([sealed.payload, sealed.wrappedKey]).includes('load')).toBe(false)
})

test('a passphrase key is argon2id with 19 MiB, two passes and one lane', async () => {
  const salt = Buffer.from('010000004c000201'.slice(0, 14), 'hex')
  const full = Buffer.concat([
    Buffer.from('01', 'hex'),
    uint32(19 * 1024),
    Buffer.from('0201', 'hex'),
    Buffer.from('somesaltsomesalt'),
  ])
  expect(newPassphraseSalt(ARGON2_COST).subarray(0, 7).equals(full.subarray(0, 7))).toBe(true)
  expect(salt.length).toBe(7)
  const derived = await derivePassphraseKey('password', full)
  const encode = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64').replace(/=+$/, '')
  const reference = `$argon2id$v=19$m=19456,t=2,p=1$${encode(full.subarray(7))}$${encode(derived)}`
  expect(await Bun.password.verify('password', reference)).toBe(true)
})

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

test('url tokens are 26 characters of Crockford’s base32 and use its whole alphabet', () => {
  const seen = new Set<string>()
  for (let i = 0; i < 300; i += 1) {
    const urlToken = newUrlToken()
    expect(urlToken).toMatch(/^[0-9abcdefghjkmnpqrstvwxyz]{26}$/)
    expect(isUrlToken(urlToken)).toBe(true)
    for (const character of urlToken) seen.add(character)
  }
  expect(seen.size).toBe(32)
  for (const bad of [
    '',
    'a'.repeat(25),
    'a'.repeat(27),
    'i'.repeat(26),
    'A'.repeat(26),
    `${'a'.repeat(25)}\n`,
  ]) {
    expect(isUrlToken(bad)).toBe(false)
  }
})

test('imported pushes keep their shorter tokens', () => {
  for (const good of ['k8ft9i41akc', 'muyc6tt0xvmu9kvmowe', '_q-x_aenmanfcg'])
    expect(isUrlToken(good)).toBe(true)
  for (const bad of ['k8ft9i41ak', 'muyc6tt0xvmu9kvmowe1', 'K8ft9i41akc', 'k8ft9i41akc.', 'k8ft9i41akc\n'])
    expect(isUrlToken(bad)).toBe(false)
})

test('the prefix of an API token is its first twelve characters, and its hash has 32 bytes', () => {
  const apiToken = newApiToken()
  expect(apiToken).toMatch(/^obx_[0-9a-hjkmnp-tv-z]{32}$/)
  expect(apiTokenPrefix(apiToken)).toBe(apiToken.slice(0, 12))
  expect(hashToken(apiToken)).toHaveLength(32)
})

test('a key file may hold comments and several keys; the first key seals', () => {
  const keyring = parseKeyFile(`# mine\r\n\n2 ${'ab'.repeat(32)}\r\n1 ${'CD'.repeat(32)}\n`)
  expect(keyring.sealing.number).toBe(2)
  expect(keyring.keys.map(({ number }) => number)).toEqual([2, 1])
  expect(fingerprint(keyring.sealing.verifier)).toMatch(/^[0-9a-f]{4}(-[0-9a-f]{4}){3}$/)
})

test.each([
  ['', 'no key'],
  ['# only words', 'no key'],
  [`x ${'ab'.repeat(32)}`, 'line 1'],
  [`\n0 ${'ab'.repeat(32)}`, 'line 2'],
  [`256 ${'ab'.repeat(32)}`, 'line 1'],
  [`1 ${'ab'.repeat(31)}`, 'line 1'],
  [`1 ${'ab'.repeat(32)}\n1 ${'cd'.repeat(32)}`, 'twice'],
])('the error for a bad key file names the line and shows none of its content', (text, hint) => {
  expect(() => parseKeyFile(text)).toThrow(hint)
  try {
    parseKeyFile(text)
  } catch (cause) {
    expect(String(cause)).not.toContain('abab')
  }
})
