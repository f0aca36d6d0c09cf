import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import {
  fingerprintOf,
  identityOfLinkKey,
  isFingerprint,
  keyCheckOf,
  newKey,
  recipientOf,
} from '../../src/age/keys.ts'

test('a new key is written in 43 characters, from which the same identity can be read', async () => {
  const { identity, recipient, linkKey, keyCheck } = await newKey()
  expect(linkKey).toMatch(/^[\w-]{43}$/)
  expect(identityOfLinkKey(linkKey)).toBe(identity)
  expect(await recipientOf(identity)).toBe(recipient)
  expect(keyCheckOf(recipient)).toBe(keyCheck)
  expect((await newKey()).linkKey).not.toBe(linkKey)
})

test('checks and fingerprints are the beginnings of SHA-256 of the recipient', () => {
  const recipient = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kudfjjx4sq5k5qu'
  const digest = createHash('sha256').update(recipient).digest()
  expect(keyCheckOf(recipient)).toBe(digest.toString('hex', 0, 4))
  expect(fingerprintOf(recipient)).toBe(digest.subarray(0, 16).toString('base64url'))
  expect(isFingerprint(fingerprintOf(recipient))).toBe(true)
})

test('another length or spelling of a key or a fingerprint is refused', async () => {
  const { linkKey, recipient } = await newKey()
  const last = linkKey.slice(-1)
  const spelled = String.fromCharCode(last.charCodeAt(0) + 1)
  const wrong = ['', linkKey.slice(1), linkKey.slice(0, -1), `${linkKey}A`, `${linkKey}=`, ` ${linkKey}`]
  for (const text of [...wrong, `${linkKey}\n`, linkKey.slice(0, -1) + spelled, `+${linkKey.slice(1)}`])
    expect(identityOfLinkKey(text)).toBeNull()
  const fingerprint = fingerprintOf(recipient)
  for (const text of [
    '',
    `${fingerprint}A`,
    fingerprint.slice(1),
    `${fingerprint.slice(0, -1)}B`,
    `${fingerprint}\n`,
  ])
    expect(isFingerprint(text)).toBe(false)
})
