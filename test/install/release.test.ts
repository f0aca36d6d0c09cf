// Which releases may replace a program.

import { expect, test } from 'bun:test'
import { parseReleaseComment, problemOfRelease } from '../../src/install/release.ts'

const own = { version: '3.1.0', target: 'linux-x64' }

test.each<[string, string | null]>([
  ['oncebox 3.1.0 linux-x64', null],
  ['oncebox 3.2.0-rc.1 linux-x64', null],
  ['oncebox 10.0.0 linux-x64', null],
  ['oncebox 3.0.9 linux-x64', 'older than this 3.1.0'],
  ['oncebox 3.1.0-rc.1 linux-x64', 'older than this 3.1.0'],
  ['oncebox 3.2.0 linux-arm64', 'built for linux-arm64, and this machine needs linux-x64'],
  ['oncebox 3.2.0 linux-x64-musl', 'built for linux-x64-musl'],
  ['oncebox 3.2.0 windows-x64', 'built for windows-x64'],
])('the release "%s": %s', (comment, problem) => {
  const release = parseReleaseComment(comment)
  expect(release).not.toBeNull()
  const found = release && problemOfRelease(release, own)
  if (problem === null) expect(found).toBeNull()
  else expect(found).toContain(problem)
})

test.each([
  '',
  'oncebox 3.1.0',
  'oncebox 3.1 linux-x64',
  'other 3.1.0 linux-x64',
  'oncebox 3.1.0 linux',
  'oncebox 3.1.0 beos-x64',
  'oncebox 3.1.0 linux-x64-musl-more',
  'oncebox 3.1.0 windows-x64-musl',
  'oncebox 3.1.0 linux-x64 and more',
])('the comment "%s" names no release', (comment) => {
  expect(parseReleaseComment(comment)).toBeNull()
})

test('the names of systems are those of the release files', () => {
  for (const name of ['linux-x64', 'linux-arm64-musl', 'windows-x64', 'macos-arm64']) {
    expect(parseReleaseComment(`oncebox 1.0.0 ${name}`)?.target).toBe(name)
  }
})

test.each([
  ['1.0.0-alpha', '1.0.0-alpha.1'],
  ['1.0.0-alpha.1', '1.0.0-beta'],
  ['1.0.0-beta.2', '1.0.0-beta.11'],
  ['1.0.0-rc.1', '1.0.0'],
  ['1.2.0', '1.10.0'],
])('%s is older than %s, according to semver.org', (older, newer) => {
  const release = (version: string) => ({ version, target: 'linux-x64' })
  expect(problemOfRelease(release(older), release(newer))).toContain('older')
  expect(problemOfRelease(release(newer), release(older))).toBeNull()
  expect(problemOfRelease(release(older), release(older))).toBeNull()
})
