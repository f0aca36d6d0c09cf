// The functions of the browser's script that encrypts: sizes, and keys in files.

import { expect, test } from 'bun:test'
import { join } from 'node:path'

const SCRIPT = join(import.meta.dir, '../../src/pages/frame/browser/sealed/age.js')
const age = await import(SCRIPT)

test.each([0, 1, 2, 3, 47, 48, 65_536, 65_537, 300_000])(
  'the counter knows how large a text of %i bytes becomes',
  async (length) => {
    const { recipient } = await age.newKey()
    const text = 'x'.repeat(length)
    expect(age.sealedBytes(text)).toBe((await age.sealText(text, [recipient])).length)
  },
)

test('an identity file is read as age-keygen writes it, and other files hold no key', async () => {
  const { identity } = await age.newKey()
  const other = await age.newKey()
  const file = `# created: 2026-11-28\r\n# public key: age1\r\n${identity}\r\n\n${other.identity}\n`
  expect(await age.identitiesIn(new Blob([file]))).toEqual([identity, other.identity])
  for (const text of ['', `x${identity}`, `${identity}0`, identity.toLowerCase(), 'a'.repeat(70_000)])
    expect(await age.identitiesIn(new Blob([text]))).toEqual([])
})

test('a key is checked against the digits of its push', async () => {
  const { identity, keyCheck } = await age.newKey()
  const other = await age.newKey()
  await age.testKey(identity)
  expect(await age.isKeyOf(identity, keyCheck)).toBe(true)
  expect(await age.isKeyOf(identity, other.keyCheck)).toBe(false)
  await expect(age.testKey('AGE-SECRET-KEY-1X')).rejects.toThrow()
})
