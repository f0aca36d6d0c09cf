// The language of pages: chosen by the URL or by older links, remembered in a cookie, but without a cookie
// for recipients.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Api, startApi } from '../support/api.ts'
import type { Init } from '../support/instance.ts'
import { attributesIn, elementsIn, valueIn } from '../support/page-facts.ts'

const PASSWORD = 'correct horse battery'
const FORM = 'application/x-www-form-urlencoded'
const NO_PUSH = '0123456789abcdefghjkmnpqrs'

let api: Api
let cookie: string
let urlToken: string

beforeAll(async () => {
  api = await startApi()
  await api.accounts().addAccount({ email: 'ann@example.org', password: PASSWORD, isAdmin: true })
  const body = new URLSearchParams({ email: 'ann@example.org', password: PASSWORD }).toString()
  const entered = await api.fetch('/sign-in', { method: 'POST', body, headers: { 'content-type': FORM } })
  cookie = entered.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
  urlToken = (await api.create({ passphrase: 'sesame' })).url_token
})

afterAll(() => api.close())

async function ask(path: string, init: Init = {}) {
  const response = await api.fetch(path, init)
  const text = await response.text()
  const { status, headers } = response
  const language = attributesIn(text, 'html', 'lang')[0] ?? null
  return { status, text, language, cookie: headers.get('set-cookie'), location: headers.get('location') }
}

const german = { 'accept-language': 'de-AT,de;q=0.9' }

describe('?locale= sets the language', () => {
  const receiving = () => [`/p/${urlToken}`, `/p/${urlToken}/r`, `/p/${NO_PUSH}`, '/p/%']
  const open = ['/', '/sign-in', '/sign-up', '/api', '/nowhere', '/welcome/x']
  const members = [
    '/pushes',
    '/account',
    '/account/two-factor',
    '/users/token',
    '/admin',
    `/pushes/${NO_PUSH}`,
  ]

  test.each([...open, ...members])('on %s, and is remembered in a cookie', async (path) => {
    const headers = { cookie, ...german }
    const shown = await ask(`${path}?locale=fr`, { headers })
    expect([shown.language, shown.status]).not.toContain(500)
    expect(shown.language).toBe('fr')
    expect(shown.cookie).toMatch(/^oncebox_language=fr;/)
    expect((await ask(`${path}?locale=fr-CA`, { headers })).language).toBe('fr')
  })

  test('on the page of a created push', async () => {
    expect((await ask(`/p/${urlToken}/preview?locale=ja`)).language).toBe('ja')
  })

  test('on the pages for recipients, without a cookie', async () => {
    for (const path of receiving()) {
      const shown = await ask(`${path}?locale=es`, { headers: german })
      expect({ path, language: shown.language }).toEqual({ path, language: 'es' })
      expect({ path, cookie: shown.cookie }).toEqual({ path, cookie: null })
    }
  })

  test('for forms and links of the page, which keep it', async () => {
    const receive = (await ask(`/p/${urlToken}/r?locale=ar`)).text
    expect(receive).toContain('dir="rtl"')
    expect(receive).toContain(`action="/p/${urlToken}/r?locale=ar"`)
    const home = (await ask('/?locale=ar')).text
    expect(home).toContain('href="/sign-in?locale=ar"')
    expect(home).toContain('name="locale"')
  })

  test('and takes precedence over ?lang= of older versions, which still works', async () => {
    expect((await ask('/?lang=de')).language).toBe('de')
    expect((await ask('/?lang=de&locale=fr')).language).toBe('fr')
  })

  test.each(['et', 'xx', '', 'mt-MT', '../../etc', '%3Cscript%3E', 'DE%00', 'en_US'.repeat(50)])(
    'and falls back to the browser’s language for the unsupported %p',
    async (locale) => {
      const shown = await ask(`/p/${urlToken}/r?locale=${locale}`, { headers: german })
      expect([shown.status, shown.language, shown.cookie]).toEqual([200, 'de', null])
      const home = await ask(`/?locale=${locale}`, {
        headers: { 'accept-language': 'fr', cookie: 'oncebox_language=ja' },
      })
      expect([home.status, home.language, home.cookie]).toEqual([200, 'ja', null])
      expect(home.text).not.toContain('<script>')
      expect(home.text).not.toContain('?locale=')
    },
  )

  test('over that of the cookie', async () => {
    const headers = { cookie: 'oncebox_language=ja' }
    expect((await ask('/?locale=de', { headers })).language).toBe('de')
  })

  test('through a redirect to sign-in', async () => {
    const { location } = await ask('/users/token?locale=de')
    expect(location).toBe('/sign-in?next=%2Fusers%2Ftoken%3Flocale%3Dde&locale=de')
    const { text } = await ask(location ?? '')
    expect(text).toContain('<html lang="de"')
    expect(valueIn(text, 'next')).toBe('/users/token?locale=de')
  })

  test('without changing the rest of the URL', async () => {
    const { text } = await ask('/pushes?show=expired&q=a%22b&locale=de&lang=fr', { headers: { cookie } })
    const hidden = elementsIn(text, 'form.language[action="/pushes"] [type="hidden"]')
    expect(hidden.map(({ attributes: { name, value } }) => [name, value])).toEqual([
      ['show', 'expired'],
      ['q', 'a"b'],
    ])
  })

  test('on no endpoint of the API', async () => {
    const { body } = await api.call(`/p/${NO_PUSH}.json?locale=de`)
    expect(body).toEqual({ error: 'not-found' })
  })
})

describe('older links', () => {
  test.each([
    ['/en', '/?locale=en'],
    ['/de/', '/?locale=de'],
    ['/it', '/?locale=it'],
    ['/pt-BR?a=b', '/?a=b&locale=pt-BR'],
    ['/de/p/abc', '/p/abc?locale=de'],
    ['/de/p/abc/r?passphrase=a%26b', '/p/abc/r?passphrase=a%26b&locale=de'],
    ['/de/p/abc?locale=fr&x=1&', '/p/abc?x=1&locale=de'],
    ['/de/f/abc/passphrase', '/p/abc?locale=de'],
    ['/zh-CN/r/abc/preview', '/p/abc/preview?locale=zh-CN'],
    ['/f/abc/passphrase', '/p/abc'],
    ['/r/abc/passphrase?locale=de', '/p/abc?locale=de'],
    ['/p/abc/passphrase?a=b', '/p/abc?a=b'],
    ['/de/p/abc/passphrase', '/p/abc?locale=de'],
    ['/f/abc?', '/p/abc?'],
    ['/de/users/token', '/users/token?locale=de'],
    ['/api_tokens', '/users/token'],
    ['/de/api_tokens', '/users/token?locale=de'],
    ['//de//p//abc//', '/p/abc?locale=de'],
    ['/zh-Hans/p/abc', '/p/abc?locale=zh-Hans'],
    ['/pt-br/p/abc', '/p/abc?locale=pt-br'],
    ...['p', 'f', 'r'].flatMap((family) => [
      [`/${family}/new?a=b`, '/?a=b'],
      [`/de/${family}/new`, '/?locale=de'],
      [`/${family}`, '/pushes'],
      [`/${family}/?page=2`, '/pushes?page=2'],
      [`/pt-BR/${family}`, '/pushes?locale=pt-BR'],
      [`/${family}/abc/audit`, '/pushes/abc'],
      [`/de/${family}/abc/audit?page=2`, '/pushes/abc?page=2&locale=de'],
    ]),
    ['/login', '/sign-in'],
    ['/de/login', '/sign-in?locale=de'],
    ['/users/sign_in', '/sign-in'],
    ['/de/users/sign_in', '/sign-in?locale=de'],
    ['/users/sign_up', '/sign-in'],
    ['/users/password/new', '/sign-in'],
    ['/de/users/password/new', '/sign-in?locale=de'],
    ['/users/edit', '/account'],
    ['/fr/users/edit', '/account?locale=fr'],
    ['/help/api', '/api/v2/docs'],
    ['/de/help/api', '/api/v2/docs?locale=de'],
  ])('%s redirects to %s', async (path, location) => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await ask(path, { method })
      expect([answer.status, answer.location, answer.cookie]).toEqual([301, location, null])
    }
  })

  test.each(['/et/p/', '/de/f/', '/fr-CA/r/'])(
    'starting with %s redirect to the page of the push',
    async (start) => {
      const moved = await ask(`${start}${urlToken}`, { headers: german })
      const shown = await ask(moved.location ?? '', { headers: german })
      expect([shown.status, shown.language, shown.cookie]).toEqual([
        200,
        start.startsWith('/fr') ? 'fr' : 'de',
        null,
      ])
    },
  )

  test.each([
    ['GET', '/english', 404],
    ['GET', '/EN', 404],
    ['GET', '/en/nothing', 404],
    ['GET', '/en/nothing/new', 404],
    ['POST', '/p', 405],
    ['POST', '/de/p/new', 405],
    ['GET', '/en/p/abc/more', 404],
    ['GET', '/en/p/a%2Fb', 404],
    ['GET', '/.locale/en', 404],
    ['GET', '/.locale/en/p/abc', 404],
    ['POST', '/nothing', 404],
    ['POST', '/english/p/abc', 404],
    ['POST', '/en', 405],
    ['POST', '/en/p/abc', 405],
    ['GET', '/sign-out', 303],
    ['GET', '/up', 200],
  ])('%s %s answers %i', async (method, path, status) => {
    expect((await ask(path, { method })).status).toBe(status)
  })
})

describe('redirects', () => {
  const words = (text: string) => text.trim().split(/\s+/)
  const STARTS =
    words(`/de /DE /%64e /de/ //de /zh-Hans /pt-br /up /xx /de/de /de- /.locale /.locale/de /.locale/:locale
    /:locale /%2elocale/de /.json`)
  const ENDS =
    words(`/ /foo /foo/ /p /p/x /p/x/y/z /p/new /d/active.json /p.json /sign-in /users/sign_in /%00 /%2e%2e
    /..%2f.. /api/v2/version /p/%5c%5cevil.example //evil.example /%5cevil.example /%2f%2fevil.example /p//evil.example
    /p/x?a=//evil.example /login?next=//evil.example /p/new?locale=//evil.example /f/x?locale=%0d%0ax:y`)
  /** Matches an absent redirect, or a path on this server that no browser reads as a host. */
  const LOCAL = /^(\/([\w.-][^\\\s]*)?(\?.*)?)?$/

  test.each([
    [{}, ''],
    [{ 'base-url': 'https://localhost/box' }, '/box'],
  ])('reveal no internal route, stay on this server and never loop, with %j', async (flags, base) => {
    const instance = await startApi({ flags })
    try {
      for (const path of ['', ...STARTS].flatMap((start) =>
        ['', ...ENDS].map((end) => `${base}${start}${end}`),
      )) {
        let place = `http://localhost${path}`
        for (let steps = 0; place !== ''; steps += 1) {
          expect([path, steps]).not.toEqual([path, 4])
          const answer = await instance.fetch(place)
          const location = answer.headers.get('location') ?? ''
          const said = `${[...answer.headers].flat().join(' ')} ${await answer.text()}`
          expect([path, said.includes('/.locale'), answer.status >= 500]).toEqual([path, false, false])
          expect([path, location]).toEqual([path, expect.stringMatching(LOCAL)])
          if (location !== '') expect(location.startsWith(`${base}/`)).toBe(true)
          place = location === '' ? '' : `http://localhost${location}`
        }
      }
      expect(instance.log.filter((line) => line.includes('.locale'))).toEqual([])
    } finally {
      await instance.close()
    }
  })
})

describe('files that robots and browsers request by themselves', () => {
  test('forbid indexing', async () => {
    const answer = await api.fetch('/robots.txt')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
    expect(await answer.text()).toBe('User-agent: *\nDisallow: /\n')
  })

  test('include an icon', async () => {
    const answer = await api.fetch('/favicon.ico')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/x-icon'])
    const bytes = await answer.bytes()
    expect([...bytes.slice(0, 4)]).toEqual([0, 0, 1, 0])
    const head = await api.fetch('/favicon.ico', { method: 'HEAD' })
    expect(head.headers.get('content-length')).toBe(String(bytes.length))
  })

  test('include a home screen icon for iOS, to which the pages link', async () => {
    const answer = await api.fetch('/apple-touch-icon.png')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect(await (await api.fetch('/')).text()).toContain(
      '<link rel="apple-touch-icon" href="/apple-touch-icon.png"',
    )
  })

  test('are served under a base path too', async () => {
    const under = await startApi({ flags: { 'base-url': 'https://localhost/box' } })
    for (const path of ['/box/robots.txt', '/robots.txt', '/box/favicon.ico', '/box/apple-touch-icon.png'])
      expect((await under.fetch(path)).status).toBe(200)
    expect((await under.fetch('/box/en')).headers.get('location')).toBe('/box/?locale=en')
    await under.close()
  })
})
