// `npm run dev`, on a copy of the project: a seeded folder, served again after each change.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ADMIN } from '../../scripts/dev/seed.ts'
import { createStage } from '../support/binary.ts'
import { freePort } from '../support/free-port.ts'
import { waitUntil } from '../support/waiting.ts'

const PROJECT = join(import.meta.dir, '../..')
const COPIED = ['src', 'scripts', 'test/support', 'package.json', 'tsconfig.json', 'release-keys.txt']

const stage = createStage()
const port = freePort()
let copy = ''
let said = ''
let dev: Bun.Subprocess

beforeAll(async () => {
  copy = stage.folder()
  for (const name of COPIED) cpSync(join(PROJECT, name), join(copy, name), { recursive: true })
  symlinkSync(join(PROJECT, 'node_modules'), join(copy, 'node_modules'))
  const child = Bun.spawn([process.execPath, join(copy, 'scripts/dev.ts'), '--port', String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  dev = child
  const listen = async () => {
    for await (const bytes of child.stdout) said += new TextDecoder().decode(bytes)
  }
  void listen()
  await waitUntil(() => said.includes('Sign in:'))
}, 120_000)
afterAll(async () => {
  dev.kill('SIGTERM')
  await dev.exited
  await stage.clear()
})

/** Fetches the text at a path; empty while the server restarts. */
const read = (path: string) =>
  fetch(`http://localhost:${port}${path}`)
    .then((response) => response.text())
    .catch(() => '')

async function readAsset(name: string): Promise<string> {
  const path = new RegExp(`/assets/${name}-\\w+\\.\\w+`).exec(await read('/'))?.[0]
  return path === undefined ? '' : read(path)
}

function change(path: string, edit: (text: string) => string): void {
  const file = join(copy, 'src', path)
  writeFileSync(file, edit(readFileSync(file, 'utf8')))
}

test('prints its address and how to sign in', async () => {
  expect(said).toContain(`http://localhost:${port}`)
  expect(said).toContain(`Sign in: ${ADMIN.email} with the password ${ADMIN.password}`)
  expect(await read('/')).toContain('Create secret link')
})

test('serves changed styles, texts, scripts and code', async () => {
  change('pages/frame/styles/base.css', (text) => `${text}\n.changed-style { color: red }\n`)
  await waitUntil(async () => (await readAsset('pages')).includes('.changed-style'))
  change('words/en.json', (text) => text.replace('"Create secret link"', '"Changed text"'))
  await waitUntil(async () => (await read('/')).includes('Changed text'))
  change('pages/frame/browser/common.js', (text) => `${text}\nglobalThis.changedScript = true\n`)
  await waitUntil(async () => (await readAsset('common')).includes('changedScript'))
  change('http/urls.ts', (text) => text.replaceAll("'/up'", "'/changed-path'"))
  await waitUntil(async () => (await read('/changed-path')).includes('"up"'))
}, 120_000)
