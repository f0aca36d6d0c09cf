// The content of the recipes of a release, and when a recipe is left out.

import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { YAML } from 'bun'
import { fileNameOf, SYSTEMS } from '../../scripts/release/parts.ts'
import { parseDownloadBase, type ReleaseTable } from '../../scripts/release/table.ts'
import { fillTemplate, RECIPES, writeRecipe } from '../../scripts/release/templates.ts'

const WORK = mkdtempSync(join(tmpdir(), 'oncebox-recipes-'))
afterAll(() => rmSync(WORK, { recursive: true }))

const TABLE: ReleaseTable = {
  ...{ version: '3.1.0', time: 1_790_000_000, base: 'https://once.example/files' },
  files: SYSTEMS.map(({ name }, index) => ({
    ...{ part: name, name: fileNameOf(name, '3.1.0'), size: 1, sha256: String(index).repeat(64) },
  })),
}
for (const recipe of RECIPES) writeRecipe(recipe, WORK, TABLE)

const textOf = (path: string) => readFileSync(join(WORK, path), 'utf8')
const yamlOf = (path: string): unknown => YAML.parse(textOf(path))
const sumOf = (part: string) => TABLE.files.find((file) => file.part === part)?.sha256

test('a template gets each value by name, and no placeholder is left', () => {
  expect(fillTemplate('ann@example.com: @file:linux-x64@', { 'file:linux-x64': 'a' })).toBe(
    'ann@example.com: a',
  )
  expect(() => fillTemplate('@sha256:linux-x64@', {})).toThrow('@sha256:linux-x64@ has no value')
})

test('a recipe is left out whole if a file that it names was not made', () => {
  const table = { ...TABLE, files: TABLE.files.filter(({ part }) => part !== 'macos-x64') }
  const folder = join(WORK, 'partial')
  expect(() => writeRecipe('homebrew', folder, table)).toThrow('@file:macos-x64@ has no value')
  expect(existsSync(folder)).toBe(false)
})

test('DOWNLOAD_BASE is a URL without a slash at its end, or a domain that nobody can register', () => {
  expect(parseDownloadBase('https://once.example/files/')).toBe('https://once.example/files')
  expect(parseDownloadBase(undefined)).toBe('https://download.example')
  for (const given of [
    'once.example',
    'ftp://once.example',
    'https://once.example/?a',
    'https://x/"',
    'https://x/#{1}',
  ])
    expect(() => parseDownloadBase(given)).toThrow('DOWNLOAD_BASE: ')
})

test('the manifest for winget has the members and the forms that its schema 1.6.0 requires', () => {
  const named = { PackageIdentifier: 'Oncebox.Oncebox', PackageVersion: '3.1.0', ManifestVersion: '1.6.0' }
  expect(yamlOf('winget/Oncebox.Oncebox.yaml')).toEqual({
    ...{ ...named, DefaultLocale: 'en-US', ManifestType: 'version' },
  })
  expect(yamlOf('winget/Oncebox.Oncebox.installer.yaml')).toEqual({
    ...{ ...named, InstallerType: 'portable', Commands: ['oncebox'], ManifestType: 'installer' },
    Installers: [
      {
        Architecture: 'x64',
        InstallerUrl: 'https://once.example/files/oncebox-3.1.0-windows-x64.exe',
        InstallerSha256: sumOf('windows-x64'),
      },
    ],
  })
  expect(yamlOf('winget/Oncebox.Oncebox.locale.en-US.yaml')).toMatchObject({
    ...{ ...named, PackageLocale: 'en-US', ManifestType: 'defaultLocale', PackageName: 'Oncebox' },
    ...{ Publisher: expect.any(String), License: 'Apache-2.0', ShortDescription: expect.any(String) },
  })
})

test('the add-on for Home Assistant has what the Supervisor requires, and checks the sum of each processor', () => {
  expect(yamlOf('home-assistant/repository.yaml')).toMatchObject({ name: 'Oncebox' })
  expect(yamlOf('home-assistant/oncebox/config.yaml')).toMatchObject({
    ...{ name: 'Oncebox', version: '3.1.0', slug: 'oncebox', description: expect.any(String) },
    ...{ arch: ['aarch64', 'amd64'], ports: { '5100/tcp': 5100 }, backup: 'cold' },
    schema: { base_url: 'url?' },
  })
  const dockerfile = textOf('home-assistant/oncebox/Dockerfile')
  expect(dockerfile).toContain(`amd64) file=oncebox-3.1.0-linux-x64 sum=${sumOf('linux-x64')} ;;`)
  expect(dockerfile).toContain(`arm64) file=oncebox-3.1.0-linux-arm64 sum=${sumOf('linux-arm64')} ;;`)
  expect(dockerfile).toContain('"https://once.example/files/$file"')
  // A copy over Samba is not executable, so start it with sh.
  expect(dockerfile).toContain('CMD ["sh", "/run.sh"]')
})

test('the role for Ansible names the executables of its table', () => {
  expect(yamlOf('ansible/roles/oncebox/defaults/main.yml')).toMatchObject({
    oncebox_download_base: 'https://once.example/files',
    oncebox_executables: {
      x86_64: { name: 'oncebox-3.1.0-linux-x64', sha256: sumOf('linux-x64') },
      aarch64: { name: 'oncebox-3.1.0-linux-arm64', sha256: sumOf('linux-arm64') },
    },
  })
})
