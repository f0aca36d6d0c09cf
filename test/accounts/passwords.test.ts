// Passwords: hashed with the work that is handed in, and verified whatever it was then.

import { expect, test } from 'bun:test'
import { createPasswords } from '../../src/accounts/passwords.ts'
import { ARGON2_COST } from '../../src/crypto/passphrase.ts'

const LEAST = { memoryKib: 8, passes: 1 }

test('a password is hashed by argon2id with 19 MiB and two passes', async () => {
  const { hashPassword } = createPasswords(ARGON2_COST)
  expect(await hashPassword('correct horse')).toStartWith('$argon2id$v=19$m=19456,t=2,p=1$')
})

test('only the right password is verified, also one that was hashed with other work', async () => {
  const hash = await createPasswords(LEAST).hashPassword('correct horse')
  const { verifyPassword } = createPasswords(ARGON2_COST)
  expect(await verifyPassword('correct horse', hash)).toBe(true)
  expect(await verifyPassword('wrong horse', hash)).toBe(false)
})

test('without a hash no password is right, not even the one that is hashed instead', async () => {
  const { verifyPassword } = createPasswords(LEAST)
  expect(await verifyPassword('nobody has this password', null)).toBe(false)
})

test('a text that is not a hash verifies no password', async () => {
  expect(await createPasswords(LEAST).verifyPassword('correct horse', 'x')).toBe(false)
})

test('a bcrypt hash of Ruby is verified over the first 72 bytes of the password', async () => {
  const { verifyPassword } = createPasswords(LEAST)
  const first = `${'ü'.repeat(35)}ab`
  const hash = (await Bun.password.hash(first, { algorithm: 'bcrypt', cost: 4 })).replace('$2b$', '$2a$')
  expect(Buffer.byteLength(first)).toBe(72)
  expect(await verifyPassword(first, hash)).toBe(true)
  expect(await verifyPassword(`${first} and what bcrypt leaves out`, hash)).toBe(true)
  expect(await verifyPassword(first.slice(0, -1), hash)).toBe(false)
})
