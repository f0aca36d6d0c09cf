// Opening a browser: only on a desktop, through a file that other users cannot read.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOpenLink, filePlaces, openerOf, redirectPage } from '../../src/cli/browser.ts'
import type { OperatingSystem } from '../../src/settings/parsers.ts'
import { waitUntil } from '../support/waiting.ts'

const LINK = 'http://localhost:5100/welcome/0123456789abcdef'

let folder = ''
let path = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'oncebox-browser-'))
  path = process.env.PATH ?? ''
})
afterEach(() => {
  process.env.PATH = path
  rmSync(folder, { recursive: true, force: true })
})

test.each<[NodeJS.Platform, Record<string, string>, string | undefined]>([
  ['linux', { DISPLAY: ':0' }, 'xdg-open'],
  ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, 'xdg-open'],
  ['linux', {}, undefined],
  ['linux', { DISPLAY: 'localhost:10.0', SSH_CONNECTION: '192.0.2.1 1 192.0.2.2 22' }, undefined],
  ['darwin', {}, '/usr/bin/open'],
  ['darwin', { SSH_TTY: '/dev/ttys001' }, undefined],
  ['win32', {}, 'rundll32.exe'],
])('on %s with %j the opener is %p', (platform, env, opener) => {
  expect(openerOf({ platform, env })?.[0]).toBe(opener)
})

test.each<[NodeJS.Platform, string, string[]]>([
  ['linux', '/home/ann/.local/share/oncebox', ['/home/ann', '/home/ann/.local/share/oncebox']],
  ['linux', '/srv/box', ['/home/ann', '/srv/box']],
  ['linux', '/home/ann/box', ['/home/ann/box']],
  [
    'darwin',
    '/Users/ann/Library/Application Support/Oncebox',
    ['/Users/ann/Library/Application Support/Oncebox'],
  ],
])('on %s with the data in %s the file is created in %j', (platform, dataDir, places) => {
  expect(filePlaces({ platform, env: {}, home: '/home/ann', cwd: '/' }, dataDir)).toEqual(places)
})

test('the page redirects to the link, whose characters cannot end an attribute', () => {
  expect(redirectPage(LINK)).toContain(`content="0; url=${LINK}"`)
  expect(redirectPage('http://a/"><script>&')).toContain('url=http://a/&quot;&gt;&lt;script&gt;&amp;"')
})

/** Sets up a desktop whose opener records its argument. */
function desktop(): { os: OperatingSystem; argument: () => Promise<string> } {
  const noted = join(folder, 'noted')
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'xdg-open'), `#!/bin/sh\nprintf '%s\\n' "$@" > '${noted}'\n`)
  chmodSync(join(bin, 'xdg-open'), 0o755)
  process.env.PATH = `${bin}:${path}`
  const argument = async () => {
    await waitUntil(() => existsSync(noted) && readFileSync(noted, 'utf8').endsWith('\n'))
    return readFileSync(noted, 'utf8').trim()
  }
  return { os: { platform: 'linux', env: { DISPLAY: ':0' }, home: folder, cwd: '/' }, argument }
}

test('the opener gets a file that only its owner can read and that is removed when the server stops', async () => {
  const desk = desktop()
  const remove = createOpenLink(desk.os)({ link: LINK, dataDir: '/nowhere' })
  const argument = await desk.argument()
  expect(argument).not.toContain('0123456789abcdef')
  expect(statSync(argument).mode & 0o777).toBe(0o600)
  expect(readFileSync(argument, 'utf8')).toContain(LINK)
  remove()
  expect(existsSync(argument)).toBe(false)
})

test('replaces the file of a killed server', async () => {
  const desk = desktop()
  writeFileSync(join(folder, 'oncebox-setup-5100.html'), 'old', { mode: 0o666 })
  const remove = createOpenLink(desk.os)({ link: LINK, dataDir: '/nowhere' })
  const argument = await desk.argument()
  expect(readFileSync(argument, 'utf8')).toContain(LINK)
  expect(statSync(argument).mode & 0o777).toBe(0o600)
  remove()
})

test('without an opener, removes the file and does not fail', async () => {
  process.env.PATH = folder
  const os: OperatingSystem = { platform: 'linux', env: { DISPLAY: ':0' }, home: folder, cwd: '/' }
  createOpenLink(os)({ link: LINK, dataDir: folder })
  const file = join(folder, 'oncebox-setup-5100.html')
  await waitUntil(() => !existsSync(file))
})

test('without a desktop, writes no file', () => {
  createOpenLink({ platform: 'linux', env: {}, home: folder, cwd: '/' })({ link: LINK, dataDir: folder })
  expect(existsSync(join(folder, 'oncebox-setup-5100.html'))).toBe(false)
})
