// Long texts of strangers in headers, addresses and forms: each is answered quickly, whatever it contains.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Api, PUSHES, startApi } from '../support/api.ts'
import { workedMs } from '../support/effort.ts'
import type { Init } from '../support/instance.ts'

const PROXY = '192.0.2.1'
/** Nearly the maximum that the server accepts in the head of a request. */
const HEAD = 15_000
const FORM = 'application/x-www-form-urlencoded'
/** It takes 100 on a quiet machine. Here the code is not compiled yet, and garbage collection adds to it. */
const MOST_MS = 500

const MARKS = '\u0301\u0316'
const filled = (start: string, run: string, length = HEAD) =>
  start + run.repeat((length - start.length) / run.length)

let api: Api
let secret: string

beforeAll(async () => {
  api = await startApi({ flags: { 'trusted-proxy': PROXY }, rateLimit: { requests: 10_000, seconds: 10 } })
  secret = (await api.create({ expire_after_views: 100 })).url_token
})
afterAll(() => api.close())

async function statusOf(path: string, init: Init): Promise<number> {
  const began = workedMs()
  const { status } = await api.fetch(path, init)
  expect(workedMs() - began).toBeLessThan(MOST_MS)
  return status
}

const HEADERS: [name: string, value: string][] = [
  ['referer', filled('http://a', '%CC%81%CC%96')],
  ['referer', filled('http://', 'xn--a.')],
  ['origin', filled('moz-extension://', 'a@')],
  ['origin', filled('http://a', '%CC%81%CC%96')],
  ['host', filled('a', '%CC%81%CC%96')],
  ['x-forwarded-host', filled('a', '%CC%81%CC%96')],
  ['x-forwarded-proto', filled('', 'https,')],
  ['x-forwarded-for', filled('', `${PROXY},`)],
  ['x-forwarded-for', filled('', '1:')],
  ['range', filled('bytes=', ' ')],
  ['if-range', filled('', '"a",')],
  ['if-none-match', filled('', '"a",')],
  ['accept-language', filled('', 'de;q=0.5,')],
  ['accept-encoding', filled('', 'gzip,')],
  ['user-agent', filled('Mozilla/5.0 (', '(X11; ')],
  ['cookie', filled('', 'oncebox_session=a;')],
  ['cookie', filled('', ';')],
  ['authorization', filled('Token ', ';token ')],
  ['authorization', filled('Token a;token', '\t')],
  ['x-user-token', filled('', 'a')],
  ['x-push-passphrase', filled('', '%C3%A9')],
  ['sec-purpose', filled('', 'pre')],
  ['idempotency-key', filled('', 'a')],
  ['content-type', filled('multipart/form-data', '; a="\\"')],
]

test.each(HEADERS)(
  'the header %s with 15,000 characters costs little time on any route',
  async (name, value) => {
    const headers = { [name]: value }
    for (const path of [
      '/',
      `/p/${secret}`,
      `${PUSHES}/${secret}`,
      `${PUSHES}/active`,
      '/d/x',
      '/sign-in',
      '/up',
    ])
      expect(await statusOf(path, { headers, from: PROXY })).toBeLessThan(500)
    const post = { method: 'POST', body: 'push[payload]=x', headers: { 'content-type': FORM, ...headers } }
    for (const path of ['/', PUSHES, '/p.json', '/sign-in'])
      expect(await statusOf(path, { ...post, from: PROXY })).toBeLessThan(500)
  },
)

test.each([
  filled('/', '/'),
  filled('/', 'a/'),
  filled('/p/', '%C3%A9'),
  `${filled('/de/p', '/p')}.json`,
  filled('/assets/', 'a-'),
  filled('/d/', 'a'),
  filled('/?', 'a=b&'),
  filled('/?name=', '%CC%81%CC%96'),
  filled('/?locale=', 'de-'),
  filled('/sign-in?next=', '%2F%2E'),
  filled(`${PUSHES}/active?page=`, '1'),
])('an address with 15,000 characters costs little time (%#)', async (path) => {
  expect(await statusOf(path, {})).toBeLessThan(500)
})

const HOSTS: [string, string][] = [
  ['labels', filled('', 'a.', 160_000)],
  ['labels of other scripts', filled('', 'é.', 160_000)],
  ['marks', filled('a', MARKS, 160_001)],
  ['users', filled('', 'a@', 160_000)],
]

test.each(HOSTS)('a link whose host has 160,000 characters of %s is refused at once', async (_name, host) => {
  const json = { push: { kind: 'url', payload: `https://${host}.example/` } }
  expect(await statusOf(PUSHES, { method: 'POST', json })).toBe(422)
  for (const link of [host, `https://${host}.example`]) {
    const body = new URLSearchParams({ 'push[kind]': 'url', 'push[link]': link }).toString()
    const init = { method: 'POST', body, headers: { 'content-type': FORM } }
    expect(await statusOf('/', init)).toBe(422)
  }
})

test('a link with a long path is returned unchanged', async () => {
  const payload = `https://ann@once.example/${MARKS.repeat(50_000)} `
  const { url_token } = await api.create({ kind: 'url', payload })
  expect((await api.retrieve(url_token)).body.payload).toBe(payload)
})
