// The page of a created push: its link and QR code, and whether it was opened, without counting a view.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Api, startApi } from '../support/api.ts'
import { attributesIn, elementsIn, textsIn } from '../support/page-facts.ts'
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

const HOST = { host: 'once.example' }

/** Creates a push with the form. Resolves to its path and the sender's cookie. */
async function send(fields: Record<string, string> = {}) {
  const form = (await page('/box/')).text
  const hidden = elementsIn(form, '[type="hidden"][name^="push["]')
  const unseen = Object.fromEntries(hidden.map(({ attributes: { name = '', value = '' } }) => [name, value]))
  const answer = await api.fetch('/box/', {
    body: new URLSearchParams({ ...unseen, 'push[payload]': 'correct horse', ...fields }).toString(),
    headers: { ...HOST, 'content-type': 'application/x-www-form-urlencoded', origin: 'https://once.example' },
  })
  expect(answer.status).toBe(303)
  const path = answer.headers.get('location') ?? ''
  const cookie = answer.headers.get('set-cookie') ?? ''
  return { path, cookie, urlToken: path.split('/').at(-2) ?? '' }
}

const asSender = (cookie: string) => ({ headers: { ...HOST, cookie: cookie.split(';', 1)[0] ?? '' } })
/** Polls like the script: by the mark in the page, without cookies. */
const questionIn = (text: string) => attributesIn(text, '[data-asks-again]', 'data-asks-again')[0] ?? ''
const openAs = (urlToken: string) => api.fetch(`/box/api/v2/pushes/${urlToken}`, { headers: HOST })

const create = (push = {}) => api.create(push, { headers: { host: 'once.example' } })

test('the page shows the link and its self-contained QR code, and counts no view', async () => {
  const push = await create({ expire_after_views: 1, passphrase: 'sesame' })
  const before = api.entries().length
  const { status, text } = await page(`/box/p/${push.url_token}/preview`)
  expect(status).toBe(200)
  expect(text).toContain(`<code>${push.html_url}</code>`)
  expect(text).toContain('It can be opened once, until')
  expect(text).toContain('needs the passphrase')
  const svg = /<svg class="qr".*?<\/svg>/s.exec(text)?.[0] ?? ''
  expect(svg).toContain('xmlns="http://www.w3.org/2000/svg"')
  expect(svg).not.toMatch(/style=|href=|url\(/)
  expect(readQr(svg)).toBe(push.html_url)
  expect(api.entries()).toHaveLength(before)
})

test('the page previews the card exactly as the recipient sees it', async () => {
  const push = await create({ expire_after_views: 1, passphrase: 'sesame' })
  const cardIn = (text: string) =>
    /<div class="card">.*?works until <time.*?<\/time>/s
      .exec(text)?.[0]
      .replace(/ name="nonce" value="[^"]*"/, '')
  const { text } = await page(`/box/p/${push.url_token}/preview`)
  const card = cardIn(text)
  for (const shown of ['You can open this only once.', 'once.example', 'Enter only the passphrase'])
    expect(card).toContain(shown)
  expect(card).toBe(cardIn((await page(new URL(push.html_url).pathname)).text))
})

test('the page says when the push has expired, and answers 404 for an unknown push', async () => {
  const push = await create()
  await api.expire(push.url_token, { headers: { host: 'once.example' } })
  const expired = await page(`/p/${push.url_token}/preview`)
  expect(expired.text).toContain('<h1>This link no longer works</h1>')
  expect(expired.text).toContain('was revoked or deleted')
  expect(expired.text).not.toContain('class="qr"')
  expect((await page('/p/0123456789abcdefghjkmnpqrs/preview')).status).toBe(404)
  expect((await page('/f/abc/preview')).status).toBe(301)
})

test('the page shows only its sender whether the link was opened', async () => {
  const { path, cookie, urlToken } = await send({ 'push[expire_after_views]': '2' })
  expect(cookie).toContain('HttpOnly; SameSite=Lax')
  const before = await page(path, asSender(cookie))
  expect(before.text).toContain('not opened yet')
  expect(before.text).toContain('<title>Your link is ready')
  const ask = questionIn(before.text)
  expect((await page(ask)).text).toContain('not opened yet')
  expect((await page(path)).text).not.toContain('not opened yet')

  await openAs(urlToken)
  for (const asked of [await page(path, asSender(cookie)), await page(ask)]) {
    expect(asked.text).toContain('<title>(1) Your link is ready')
    expect(textsIn(asked.text, 'main').join()).toMatch(/Opened \S/)
    expect(asked.text).toContain('Opened 1 of 2 times')
  }
  expect((await page(path)).text).not.toContain('id="opened"')

  await openAs(urlToken)
  const used = await page(ask)
  expect(used.text).toContain('<h1>It was opened</h1>')
  expect(used.text).toContain('link used up')
  expect((await page(path)).text).toContain('<h1>This link no longer works</h1>')
})

test('an altered mark, or one of another push or server, reveals nothing', async () => {
  const [one, other] = [await send(), await send()]
  const mark = (of: { cookie: string }) => of.cookie.split(';', 1)[0]?.split('=')[1] ?? ''
  for (const wrong of [mark(other), `${mark(one).slice(0, -2)}AA`, 'x'.repeat(4000), '', '%00'])
    expect((await page(`${one.path}?sender=${wrong}`)).text).not.toContain('not opened yet')
  expect((await page(`${one.path}?sender=${mark(one)}`)).text).toContain('not opened yet')
})

test('the owner sees that without a mark, even if another browser has created a push since', async () => {
  const { cookie } = await send()
  const token = await api.addAccount('ann@example.org')
  const own = await api.create({ name: 'Wi-Fi for Ben' }, { headers: HOST, token })
  await openAs(own.url_token)
  const signedIn = await api.fetch('/box/sign-in', {
    body: new URLSearchParams({ email: 'ann@example.org', password: 'correct horse battery' }).toString(),
    headers: { ...HOST, 'content-type': 'application/x-www-form-urlencoded', origin: 'https://once.example' },
  })
  const session = signedIn.headers.get('set-cookie')?.split(';', 1)[0]
  const both = { headers: { ...HOST, cookie: `${session}; ${cookie.split(';', 1)[0]}` } }
  const { text } = await page(`/box/p/${own.url_token}/preview`, both)
  expect(text).toMatch(/Opened \d of/)
  expect(text).toContain(' · <bdi>Wi-Fi for Ben</bdi> · ')
  expect(text).toContain(`href="/box/pushes/${own.url_token}"`)
})
