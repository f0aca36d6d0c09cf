// The keys of releases that a build embeds.

import { expect, test } from 'bun:test'
import { findKeysProblem, readReleaseKeys } from '../../src/install/release-keys.ts'

test('a build without keys says what an upgrade needs; one with keys says nothing', () => {
  const [keyId, key] = [Buffer.alloc(8), Buffer.alloc(32)]
  expect(findKeysProblem([])).toBe('This build has no release keys: "oncebox upgrade" needs --public-key.')
  expect(findKeysProblem([{ keyId, key }] as unknown as ReturnType<typeof readReleaseKeys>)).toBeNull()
})

test('release-keys.txt contains only public keys', async () => {
  const text = await Bun.file(`${import.meta.dir}/../../release-keys.txt`).text()
  expect(text).not.toContain('secret key')
  const lines = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#') && !line.startsWith('untrusted'))
  expect(readReleaseKeys()).toHaveLength(lines.length)
})
