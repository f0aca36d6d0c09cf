// The files that the Debian package installs: the executable, its manual page, and the offline documentation.

import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { filesOf } from '../../scripts/release/debian-package.ts'
import { manPage } from '../../scripts/release/man-page.ts'
import { COMMANDS } from '../../src/cli/commands.ts'
import { type Setting, variableOf } from '../../src/settings/setting.ts'
import { settings } from '../../src/settings/table.ts'

const PROJECT = join(import.meta.dir, '../..')
const MADE = { version: '3.1.0-rc.1', time: 1_790_000_000 }
const files = new Map(
  filesOf({ binary: join(PROJECT, 'LICENSE'), ...MADE }).map(({ path, bytes }) => [path, bytes]),
)
const textOf = (path: string) => Buffer.from(files.get(path) ?? []).toString()
const packedTextOf = (path: string) => gunzipSync(files.get(path) ?? Buffer.alloc(0)).toString()

test('the pages are those of the project, and no link between them is dangling', () => {
  const doc = 'usr/share/doc/oncebox/'
  expect(textOf(`${doc}docs/damage.md`)).toContain('# When the disk is at fault')
  const pages = [...files.keys()].filter((path) => path.endsWith('.md'))
  const missing = pages.flatMap((page) =>
    [...textOf(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
      .map(([, link = '']) => join(page, '..', link))
      .filter((path) => !files.has(path) && existsSync(join(PROJECT, path.replace(doc, '')))),
  )
  expect(pages.length).toBeGreaterThan(20)
  expect(missing).toEqual([])
})

test('the changelog has the form of Debian', () => {
  expect(packedTextOf('usr/share/doc/oncebox/changelog.gz')).toMatch(
    /^oncebox \(3\.1\.0~rc\.1\) stable; urgency=medium\n\n {2}\* .*\n\n -- .* <.*> {2}Mon, 21 Sep 2026 \d\d:\d\d:\d\d \+0000\n$/,
  )
})

test('the manual page lists every command and setting, and nothing about the machine that built it', () => {
  const page = manPage(MADE)
  expect(packedTextOf('usr/share/man/man1/oncebox.1.gz')).toBe(page)
  expect(page).toStartWith('.TH ONCEBOX 1 "2026-09-21" "Oncebox 3.1.0\\-rc.1" "User Commands"\n')
  const shown = page.replaceAll('\\-', '-')
  const commands = COMMANDS.map(({ name }) => `oncebox ${name}`)
  expect(commands).toContain('oncebox backup verify')
  expect(commands.filter((name) => !shown.includes(`\n.SS "${name}`))).toEqual([])
  const titles = Object.values<Setting>(settings).map((setting) =>
    setting.variableOnly ? variableOf(setting) : `--${setting.flag}`,
  )
  expect(titles.filter((title) => !shown.includes(`\n.B ${title}`))).toEqual([])
  expect(shown).toContain('.I ~/.config/oncebox/client.json')
})
