// Passwords: hashed with the given parameters, and verified with those of the hash.

import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { createPasswords } from '../../src/accounts/passwords.ts'
import { ARGON2_COST } from '../../src/crypto/passphrase.ts'
import { workedMs } from '../support/effort.ts'

const LEAST = { memoryKib: 8, passes: 1 }

test('a password is hashed by argon2id with 19 MiB and two passes', async () => {
  const { hashPassword } = createPasswords(ARGON2_COST)
  expect(await hashPassword('correct horse')).toStartWith('$argon2id$v=19$m=19456,t=2,p=1$')
})

test('only the right password is verified, even with other argon2id parameters', async () => {
  const hash = await createPasswords(LEAST).hashPassword('correct horse')
  const { verifyPassword } = createPasswords(ARGON2_COST)
  expect(await verifyPassword('correct horse', hash)).toBe(true)
  expect(await verifyPassword('wrong horse', hash)).toBe(false)
})

test('without a hash no password is right, not even the dummy that is hashed instead', async () => {
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

describe('a new password', () => {
  const { requireGoodPassword } = createPasswords(LEAST, { nameOfInstance: () => 'Larkspur Vault' })
  const choose = (password: string) => requireGoodPassword(password, 'zenobia.quill@example.org')
  const codeOf = (password: string) =>
    choose(password).then(
      () => 'good',
      (cause) => cause.details.problems.password[0].code,
    )

  test.each([
    'passwordpassword',
    'P@ssw0rd1234',
    '123456789012',
    'qwertyuiopas',
    'letmeinletmein',
    'Larkspur Vault',
    'zenobia.quill@example.org',
    'zenobiaquill',
    'a'.repeat(64),
  ])('that attackers guess first is refused: %s', async (password) => {
    expect(await codeOf(password)).toBe('too_weak')
  })

  test.each([
    'correct horse battery',
    'river stone cloud',
    'k3m9-qx2v-n4t8',
    'a long new password',
    '紫色の象と静かな湖の夜明け',
  ])('that is hard to guess is accepted: %s', async (password) => {
    expect(await codeOf(password)).toBe('good')
  })

  test('is scored by its first 32 characters, after the check of its length', async () => {
    expect(await codeOf(`${'a'.repeat(32)}k3m9-qx2v-n4t8`)).toBe('too_weak')
    expect(await codeOf('x'.repeat(1025))).toBe('too_long_bytes')
    expect(await codeOf('k3m9-qx2v')).toBe('too_short')
  })

  test('takes little time to score, whatever it is', async () => {
    await choose('correct horse battery')
    // Characters that zxcvbn can read as letters in hundreds of ways, mixed with plain ones.
    const mixed = '4A@a{\\(_)44/\\|5$7+!1|0oO3eE9g6G8b%xX2zZ7l1|[<({c(v|'
    for (const part of [mixed, '0123456789', 'p@ssw0rd', '4@8({[<3691!', 'aA1!', '12/3.', 'ab', '1', 'x ']) {
      const before = workedMs()
      for (let times = 0; times < 10; times += 1) await codeOf(part.repeat(64).slice(0, 1024 - times))
      expect({ part, isQuick: workedMs() - before < 150 }).toEqual({ part, isQuick: true })
    }
  })

  test('loads the lists of common passwords; a start does not', async () => {
    const script = `
      import { startInstance } from './test/support/instance.ts'
      const loaded = () => Object.keys(require.cache).filter((path) => /zxcvbn|password-score/.test(path)).length
      const server = await startInstance()
      await server.fetch('/')
      const counts = [loaded()]
      await server.addAccount('ann@example.org')
      console.log(JSON.stringify([...counts, loaded() > 0]))
      process.exit(0)`
    const child = Bun.spawn([process.execPath, '-e', script], { cwd: join(import.meta.dir, '../..') })
    expect(await new Response(child.stdout).json()).toEqual([0, true])
  })
})
