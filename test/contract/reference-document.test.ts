// Compares the reference document with `test/fixtures/openapi.json`. A change of the API changes the fixture:
// `ONCEBOX_RECORD=1 bun test test/contract/reference-document.test.ts`.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type Api, startApi } from '../support/api.ts'

const RECORDED = join(import.meta.dir, '../fixtures/openapi.json')
/** All features are on, so that the document has all operations. */
const FLAGS = {
  ...{
    'smtp-url': 'smtps://127.0.0.1:1',
    'mail-from': 'once@example.org',
    'base-url': 'http://localhost/box',
  },
  'webhook-hosts': 'ntfy.sh',
}

let api: Api
beforeAll(async () => {
  api = await startApi({ flags: FLAGS })
})
afterAll(() => api.close())

test('the document equals the recorded one', async () => {
  const answer = await api.fetch('/api/v2/openapi.json')
  const text = await answer.text()
  if (process.env.ONCEBOX_RECORD === '1')
    await Bun.write(RECORDED, `${JSON.stringify(JSON.parse(text), null, 2)}\n`)
  expect(text).toBe(JSON.stringify(await Bun.file(RECORDED).json()))
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
})

test('the document and its page name no external URL except those that they describe', async () => {
  for (const path of ['/api/v2/openapi.json', '/api/v2/docs', '/api']) {
    const text = await (await api.fetch(path)).text()
    const hosts = [...text.matchAll(/(?:https?:)?\/\/([a-z][\w-]*\.[\w.-]+)/gi)].map(([, host]) => host)
    expect([path, hosts.filter((host) => !KNOWN.has(host ?? ''))]).toEqual([path, []])
  }
})

/** URLs in descriptions and examples. */
const KNOWN = new Set(['www.standardwebhooks.com', 'ntfy.sh', 'example.org'])

test('no source names a URL from which scripts are loaded', async () => {
  const src = join(import.meta.dir, '../../src')
  for await (const path of new Bun.Glob('**/*.{ts,tsx,js,css,json,html}').scan(src)) {
    const text = await Bun.file(join(src, path)).text()
    expect([path, text.match(/unpkg|jsdelivr|cdnjs|\bcdn\.|googleapis|esm\.sh/i)]).toEqual([path, null])
  }
})

test('the plugin serves nothing itself', async () => {
  for (const path of ['/reference', '/reference/json', '/swagger', '/swagger/json'])
    expect((await api.fetch(path)).status).toBe(404)
})
