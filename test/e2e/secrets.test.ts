// Planted secrets: nothing that was handed over is found in the data folder or in what the server prints.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { removeFolder, runBinary, type Started, startBinary } from '../support/binary.ts'

let server: Started

beforeAll(async () => {
  server = await startBinary()
})

afterAll(async () => {
  await server.end('SIGKILL')
  removeFolder(server.dataDir)
})

/** Every spelling in which a text could have been kept. */
function spellings(text: string): Buffer[] {
  const bytes = Buffer.from(text)
  const base64 = bytes.toString('base64').replace(/=+$/, '').slice(0, -2)
  return [bytes, Buffer.from(text, 'utf16le'), Buffer.from(encodeURIComponent(text)), Buffer.from(base64)]
}

function everything(): Buffer {
  const names = readdirSync(server.dataDir, { recursive: true, withFileTypes: true })
  const files = names
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name)))
  return Buffer.concat([...files, Buffer.from(server.stdout()), Buffer.from(server.stderr())])
}

test('no secret reaches the data folder or the log', async () => {
  const password = 'PLANTED-password-71'
  await runBinary(['user', 'add', 'eve@example.org', '--password-stdin', '--data-dir', server.dataDir], {
    input: password,
  })
  const created = await runBinary(['token', 'create', 'eve@example.org', '--data-dir', server.dataDir])
  const apiToken = created.stdout.trim()
  const auth = { authorization: `Bearer ${apiToken}` }
  const secret = {
    payload: 'PLANTED-payload-ä-17',
    passphrase: 'PLANTED-passphrase-23',
    name: 'PLANTED-name-29',
    note: 'PLANTED-note-31',
  }
  const { url_token, html_url } = await (await server.create(secret, auth)).json()
  const passphrase = encodeURIComponent(secret.passphrase)
  await server.retrieve(`${url_token}?passphrase=PLANTED-wrong-37`)
  await server.retrieve(`${url_token}?passphrase=${passphrase}`)
  await server.retrieve(url_token, { headers: { 'x-push-passphrase': passphrase, referer: html_url } })
  await fetch(`${server.url}/PLANTED-path-41/${url_token}?q=PLANTED-query-43`)
  await fetch(`${server.url}/p/${url_token}/r`)
  await fetch(`${server.url}/api/v2/pushes`, {
    method: 'POST',
    body: '{"push":{"payload":"PLANTED-broken-47"',
  })
  await server.create({
    payload: 'PLANTED-invalid-53',
    kind: 'PLANTED-kind-59',
    expire_after_days: 'PLANTED-days-61',
  })
  const form = new FormData()
  form.set('push[payload]', 'PLANTED-form-67')
  form.set('push[files][]', new Blob(['PLANTED-content-73']), 'PLANTED-file-79.txt')
  await fetch(`${server.url}/api/v2/pushes`, { method: 'POST', body: form, headers: auth })
  await fetch(`${server.url}/api/v2/pushes/${url_token}/audit`, { headers: auth })
  await fetch(`${server.url}/api/v2/pushes/${url_token}`, {
    headers: { authorization: 'Bearer PLANTED-token-83' },
  })
  await Bun.sleep(100)
  const kept = everything()
  for (const text of ['PLANTED', url_token, apiToken, ...Object.values(secret), password]) {
    for (const spelling of spellings(text))
      expect({ text, found: kept.includes(spelling) }).toEqual({ text, found: false })
  }
})

type Secrets = { push_id: number; salt: Uint8Array; wrapped_key: Uint8Array; payload: Uint8Array }

test('ten seconds after pushes expired nothing in the data folder opens them', async () => {
  const urlTokens: string[] = []
  for (let i = 0; i < 300; i += 1) {
    const payload = 'x'.repeat([10, 200, 3_000, 20_000, 120_000][i % 5] ?? 10)
    const { url_token } = await (await server.create({ payload, expire_after_views: 1 })).json()
    urlTokens.push(url_token)
  }
  const database = new Database(join(server.dataDir, 'oncebox.db'), { readonly: true })
  const sealed = database.query<Secrets, []>('SELECT * FROM push_secrets ORDER BY push_id').all().slice(-300)
  database.close()
  expect(sealed).toHaveLength(300)
  const doomed = shuffledHalf(urlTokens.map((urlToken, index) => ({ urlToken, secrets: sealed[index] })))
  for (const [index, { urlToken }] of doomed.entries()) {
    const response = await server.retrieve(urlToken, index % 2 === 0 ? {} : { method: 'DELETE' })
    expect(response.status).toBe(200)
  }
  const needles = doomed.flatMap(({ secrets }) =>
    secrets === undefined ? [] : [secrets.salt, secrets.wrapped_key.slice(14), secrets.payload.slice(14, 40)],
  )
  const deadline = performance.now() + 10_000
  let left = needles.length
  while (left > 0 && performance.now() < deadline) {
    await Bun.sleep(500)
    const kept = everything()
    left = needles.filter((needle) => kept.includes(Buffer.from(needle))).length
  }
  expect(left).toBe(0)
})

function shuffledHalf<T>(list: T[]): T[] {
  return list
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .slice(0, list.length / 2)
    .map(({ item }) => item)
}
