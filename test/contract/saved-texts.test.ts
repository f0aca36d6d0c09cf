// Saving a retrieved text as a file without a script: the page holds it sealed, and the server returns it
// exactly.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Api, startApi } from '../support/api.ts'
import { elementsIn, valueIn } from '../support/page-facts.ts'

const FORM = { 'content-type': 'application/x-www-form-urlencoded', origin: 'http://localhost' }

let api: Api
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.close())

const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = FORM) =>
  api.fetch(path, { method: 'POST', headers, body: new URLSearchParams(fields).toString() })

async function openPage(payload: string, push = {}) {
  const { html_url, url_token } = await api.create({ payload, ...push })
  const path = new URL(html_url).pathname
  const nonce = valueIn(await (await api.fetch(path)).text(), 'nonce')
  const page = await (await post(path, { nonce })).text()
  const sealed = valueIn(page, 'text')
  return { page, sealed, save: `/p/${url_token}/save` }
}

test.each(['x', 'one\r\ntwo\rthree\n', ' ‮🔑\0 ', '日'.repeat(14_000)])(
  'text %# is saved exactly, although its push has expired',
  async (payload) => {
    const { sealed, save } = await openPage(payload, { expire_after_views: 1 })
    const saved = await post(save, { text: sealed })
    expect(saved.status).toBe(200)
    expect(saved.headers.get('content-disposition')).toBe(
      `attachment; filename="secret.txt"; filename*=UTF-8''secret.txt`,
    )
    expect(saved.headers.get('cache-control')).toBe('no-store')
    expect(saved.headers.get('x-content-type-options')).toBe('nosniff')
    expect(Buffer.from(await saved.bytes()).equals(Buffer.from(payload))).toBe(true)
  },
)

test('only texts that this server has shown can be saved', async () => {
  const { sealed, save } = await openPage('x')
  for (const text of ['', 'x', `${sealed}A`, `${sealed.slice(0, -4)}AAAA`])
    expect((await post(save, { text })).status).toBe(403)
})

test('a cross-site form is refused', async () => {
  const { sealed, save } = await openPage('x')
  expect((await post(save, { text: sealed }, { ...FORM, origin: 'https://evil.example' })).status).toBe(403)
})

test('a text too large for the form is left to the script, and URLs are not offered', async () => {
  const large = await openPage('x'.repeat(60_000))
  expect(large.sealed).toBe('')
  expect(elementsIn(large.page, '[data-saves="payload"][hidden]')).toHaveLength(1)
  const address = await openPage('https://example.org/', { kind: 'url' })
  expect(elementsIn(address.page, '[data-saves]')).toEqual([])
})

test('the page of a short secret stays small', async () => {
  expect(Buffer.byteLength((await openPage('hunter2')).page)).toBeLessThan(20_000)
  const lines = Array.from({ length: 50 }, (_, n) => `name ${n}: value ${n}`).join('\n')
  expect(Buffer.byteLength((await openPage(lines)).page)).toBeLessThan(60_000)
})
