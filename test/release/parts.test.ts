import { expect, test } from 'bun:test'
import { controlText } from '../../scripts/release/debian-package.ts'
import { chooseParts, fileNameOf, PARTS, partOf, systemOf } from '../../scripts/release/parts.ts'

test('the files of a release are named after their system', () => {
  expect(PARTS.map((part) => fileNameOf(part, '3.1.0'))).toEqual([
    'oncebox-3.1.0-linux-x64',
    'oncebox-3.1.0-linux-arm64',
    'oncebox-3.1.0-linux-x64-musl',
    'oncebox-3.1.0-linux-arm64-musl',
    'oncebox-3.1.0-windows-x64.exe',
    'oncebox-3.1.0-macos-arm64',
    'oncebox-3.1.0-macos-x64',
    'oncebox_3.1.0_amd64.deb',
    'oncebox_3.1.0_arm64.deb',
    'oncebox-3.1.0-1.x86_64.rpm',
    'oncebox-3.1.0-1.aarch64.rpm',
    'oncebox-3.1.0-image-amd64.tar',
    'oncebox-3.1.0-image-arm64.tar',
    'oncebox-3.1.0-image.tar',
    'oncebox-3.1.0.cdx.json',
  ])
})

test('the name of a file identifies its part, for the signed comment', () => {
  for (const part of PARTS) expect(partOf(fileNameOf(part, '3.1.0'), '3.1.0')).toBe(part)
  expect(partOf('oncebox-3.0.0-linux-x64', '3.1.0')).toBeNull()
  expect(partOf('SHA256SUMS', '3.1.0')).toBeNull()
})

test('--only accepts parts and groups of parts, in build order', () => {
  expect(chooseParts('deb, linux-x64')).toEqual(['linux-x64', 'deb-amd64', 'deb-arm64'])
  expect(chooseParts(undefined)).toEqual([...PARTS])
  expect(() => chooseParts('linux-x64,snap')).toThrow('there is no part "snap"; the parts are linux-x64')
})

test('packages and images contain the executable of their processor', () => {
  expect(systemOf('deb-amd64')?.name).toBe('linux-x64')
  expect(systemOf('image-arm64')?.name).toBe('linux-arm64')
  expect(systemOf('sbom')).toBeNull()
})

test('the control file names version, processor, size in KiB and what the package needs', () => {
  const text = controlText({
    architecture: 'arm64',
    version: '3.1.0-rc.1',
    files: [{ bytes: Buffer.alloc(1025) }],
  })
  expect(text).toContain('Package: oncebox\nVersion: 3.1.0~rc.1\nArchitecture: arm64\n')
  expect(text).toContain('Installed-Size: 2\nDepends: libc6 (>= 2.17)\n')
  expect(text).toEndWith('\n')
  expect(text).not.toContain('\n\n')
})
