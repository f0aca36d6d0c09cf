// The page about a push that was created: its link and QR code, and never a view.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Api, startApi } from '../support/api.ts'
import { readQr } from '../support/qr.ts'

let api: Api

beforeAll(async () => {
  api = await startApi({ flags: { 'base-url': 'https://once.example/box' } })
})
afterAll(() => api.close())

const page = async (path: string, init = {}) => {
  const response = await api.fetch(path, { headers: { host: 'once.example' }, ...init })
  return { status: response.status, text: await response.text() }
}

const create = (push = {}) => api.create(push, { headers: { host: 'once.example' } })

test('shows the link and its self-contained QR code, and counts nothing', async () => {
  const push = await create({ expire_after_views: 1, passphrase: 'sesame' })
  const before = api.entries().length
  const { status, text } = await page(`/box/p/${push.url_token}/preview`)
  expect(status).toBe(200)
  expect(text).toContain(`<code>${push.html_url}</code>`)
  expect(text).toContain('1 view or 7 days, whichever comes first')
  expect(text).toContain('needs the passphrase')
  const svg = /<svg class="qr".*?<\/svg>/s.exec(text)?.[0] ?? ''
  expect(svg).toContain('xmlns="http://www.w3.org/2000/svg"')
  expect(svg).not.toMatch(/style=|href=|url\(/)
  expect(readQr(svg)).toBe(push.html_url)
  expect(api.entries()).toHaveLength(before)
})

test('says when the push has expired, and is 404 for an unknown push', async () => {
  const push = await create()
  await api.expire(push.url_token, { headers: { host: 'once.example' } })
  const expired = await page(`/p/${push.url_token}/preview`)
  expect(expired.text).toContain('<h1>This link no longer works</h1>')
  expect(expired.text).toContain('has expired or was deleted')
  expect(expired.text).not.toContain('class="qr"')
  expect((await page('/p/0123456789abcdefghjkmnpqrs/preview')).status).toBe(404)
  expect((await page('/f/abc/preview')).status).toBe(301)
})
