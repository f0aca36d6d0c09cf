// Sharing from the menus of file managers on a real X server with a real clipboard.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BINARY, createStage, makeFolder, runBinary, type Started } from '../support/binary.ts'
import { needs } from '../support/needs.ts'
import { waitUntil } from '../support/waiting.ts'

const stage = createStage()
const onDesktop = needs('Xvfb', 'xclip', 'xsel')
let server: Started
let home: string
let display: { name: string; child: Bun.Subprocess } | null = null
let env: Record<string, string>

beforeAll(async () => {
  home = makeFolder()
  server = await stage.start()
  if (onDesktop.isMet) display = await startDisplay()
  env = { HOME: home, PATH: process.env.PATH ?? '', DISPLAY: display?.name ?? '' }
  await server.command(['user', 'add', 'ann@example.org', '--password-stdin'], 'correct horse battery')
  const { stdout } = await server.command(['token', 'create', 'ann@example.org'])
  const login = ['login', server.url, '--token-stdin']
  expect(await runBinary(login, { input: stdout, env })).toMatchObject({ code: 0 })
  expect(await runBinary(['desktop', 'install'], { env })).toMatchObject({ code: 0 })
})
afterAll(async () => {
  display?.child.kill('SIGKILL')
  await stage.clear()
})

/** Starts an X server that chooses its own number. */
async function startDisplay() {
  const child = Bun.spawn(['Xvfb', '-displayfd', '1', '-screen', '0', '640x480x24', '-nolisten', 'tcp'], {
    ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' },
  })
  const { value } = await child.stdout.getReader().read()
  return {
    name: `:${Buffer.from(value ?? [])
      .toString()
      .trim()}`,
    child,
  }
}

const data = (path: string) => join(home, '.local/share', path)

async function readClipboard(): Promise<string> {
  const child = Bun.spawn(['xclip', '-selection', 'clipboard', '-out'], { env, stderr: 'ignore' })
  return new Response(child.stdout).text()
}

async function open(link: string): Promise<string[]> {
  const output = `${makeFolder()}/`
  expect(await runBinary(['get', link, '--output', output], { env })).toMatchObject({ code: 0 })
  return readdirSync(output).sort()
}

onDesktop.describe('the menu of', () => {
  test.each([
    ['Nautilus', 'nautilus/scripts/Share through Oncebox'],
    ['Thunar and Dolphin', 'oncebox/share-files'],
  ])('%s puts a link to the files on the clipboard', async (_, script) => {
    const folder = join(home, `files of ${script.length}`)
    mkdirSync(folder)
    for (const name of ['a b.txt', "it's.txt", '-x.txt']) writeFileSync(join(folder, name), name)
    const shared = Bun.spawn([data(script), 'a b.txt', join(folder, "it's.txt"), '-x.txt'], {
      ...{ cwd: folder, env, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' },
    })
    expect([await shared.exited, await new Response(shared.stderr).text()]).toEqual([0, expect.any(String)])
    expect(await open(await readClipboard())).toHaveLength(3)
  })
})

onDesktop.test('the secret is taken from the clipboard, and the clipboard is emptied', async () => {
  Bun.spawnSync(['xclip', '-selection', 'clipboard'], {
    ...{ env, stdin: Buffer.from('grüße 🔑\nzwei'), stdout: 'ignore', stderr: 'ignore' },
  })
  const pushed = await runBinary(['push', '--paste'], { env })
  expect([pushed.code, await readClipboard()]).toEqual([0, ''])
  expect((await runBinary(['get', pushed.stdout.trim()], { env })).stdout).toBe('grüße 🔑\nzwei')
})

onDesktop.test('Ctrl-C clears a secret from the clipboard at once', async () => {
  const { stdout } = await runBinary(['push'], { env, input: 'hunter2' })
  const getting = Bun.spawn([BINARY, 'get', stdout.trim(), '--copy'], { env, stderr: 'ignore' })
  await waitUntil(async () => (await readClipboard()) === 'hunter2')
  getting.kill('SIGINT')
  expect([await getting.exited, await readClipboard()]).toEqual([0, ''])
  expect(await new Response(getting.stdout).text()).toBe('')
})

needs('desktop-file-validate').test('the files for Thunar and Dolphin are valid', () => {
  for (const path of ['Thunar/sendto/oncebox.desktop', 'kio/servicemenus/oncebox.desktop']) {
    const found = Bun.spawnSync(['desktop-file-validate', data(path)])
    expect({ path, said: found.stdout.toString(), code: found.exitCode }).toEqual({ path, said: '', code: 0 })
  }
})
