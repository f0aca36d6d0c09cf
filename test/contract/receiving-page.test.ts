// The page of a secret link before it is opened, and when it cannot be opened; titles of pages; summaries of
// refused forms.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startInstance, type TestInstance } from '../support/instance.ts'
import { elementsIn, factsOf, textsIn, valueIn } from '../support/page-facts.ts'
import { createPeople, type People } from '../support/people.ts'

let server: TestInstance
let people: People
let token: string

beforeAll(async () => {
  server = await startInstance()
  people = createPeople(server)
  token = await server.addAccount('ann@example.org', { isAdmin: true })
})

afterAll(() => server.close())

type Made = { url_token: string; path: string }

async function make(fields: Record<string, unknown> = {}): Promise<Made> {
  const json = { push: { payload: 'x', ...fields } }
  const { url_token, html_url } = await (await server.fetch('/api/v2/pushes', { json, token })).json()
  return { url_token, path: new URL(html_url).pathname }
}

const titleOf = (text: string) => textsIn(text, 'title')[0]

/** Presses the button of a secret link. */
async function open({ path }: Made, fields: Record<string, string> = {}) {
  const { text } = await people.get(path)
  return people.post(path, { nonce: valueIn(text, 'nonce'), ...fields })
}

describe('the page of an unopened link', () => {
  test('says what it is and on which host it is stored, asks for no password, and sets no cookie', async () => {
    const { text, headers } = await people.get((await make()).path)
    expect(factsOf(text).headings).toEqual(['Somebody sent you a secret'])
    expect(textsIn(text, 'main').join()).toContain('It is kept at localhost')
    expect(text).toContain('never asks for a password of yours')
    expect(elementsIn(text, '[type="password"]')).toEqual([])
    expect(headers.get('set-cookie')).toBeNull()
  })

  test('explains secret links to new recipients, and warns those who did not expect one', async () => {
    const told = ['<summary>How this works</summary>', 'each opening counts', 'Not expecting this?']
    const { path } = await make()
    const { text } = await people.get(path)
    expect(told.filter((words) => text.includes(words))).toEqual(told)
    const own = await (await people.signIn('ann@example.org')).get(path)
    expect(told.filter((words) => own.text.includes(words))).toEqual([])
  })

  test('says that it opens only once, if so', async () => {
    const once = 'You can open this only once.'
    const last = 'It can be opened only one more time.'
    expect((await people.get((await make({ expire_after_views: 1 })).path)).text).toContain(once)
    const twice = await make({ expire_after_views: 2 })
    const before = (await people.get(twice.path)).text
    expect([before.includes(once), before.includes(last)]).toEqual([false, false])
    expect((await open(twice)).status).toBe(200)
    const after = (await people.get(twice.path)).text
    expect([after.includes(once), after.includes(last)]).toEqual([false, true])
  })

  test('tells owners that the push is theirs, and links to their list', async () => {
    const { url_token, path } = await make({ passphrase: 'sesame' })
    const { text } = await (await people.signIn('ann@example.org')).get(path)
    expect(text).toContain('<h1>This secret is yours</h1>')
    expect(text).toContain(`href="/pushes/${url_token}"`)
    expect(text).not.toContain('Somebody sent you')
  })
})

describe('chat previews of a secret link', () => {
  const read = async (path: string, language = 'en') => {
    const { text } = await people.get(path, { headers: { 'accept-language': language } })
    return Object.fromEntries(
      elementsIn(text, 'meta[property^="og:"]').map(({ attributes }) => [
        attributes.property,
        attributes.content,
      ]),
    )
  }

  test('show the kind of page in its language, and no detail of the push', async () => {
    const description =
      'A secret link: it works for a limited time and can be opened a limited number of times.'
    const expected = { 'og:title': 'A secret for you', 'og:description': description }
    const made = await make({ payload: 'tulip', name: 'VPN', note: 'of Ben', expire_after_views: 42 })
    expect(await read(made.path)).toEqual(expected)
    expect(await read(`/p/${made.url_token}`)).toEqual(expected)
    expect(await read((await make({ kind: 'url', payload: 'https://example.org' })).path)).toEqual(expected)
    expect((await read(made.path, 'de'))['og:title']).toBe('Ein Geheimnis für Sie')
  })

  test('are the same for an expired push and an unknown one', async () => {
    const spent = await make({ expire_after_views: 1 })
    await open(spent)
    const gone = await read(spent.path)
    expect(gone['og:title']).toBe('This link no longer works')
    expect(gone).toEqual(await read('/p/0123456789abcdefghjkmnpqrs'))
  })

  test('show neither the page for the sender nor other pages', async () => {
    const { url_token } = await make()
    for (const path of [`/p/${url_token}/preview`, '/', '/sign-in']) expect(await read(path)).toEqual({})
  })
})

describe('a message with files', () => {
  const file = (filename: string) => ({ filename, data: btoa(filename) })

  test.each([[['a.txt']], [['a.txt', 'b.txt']]])(
    'is shown unmasked, and the primary button downloads the files: %p',
    async (names) => {
      const { text } = await open(await make({ payload: 'hunter2', files: names.map(file) }))
      expect(textsIn(text, 'pre.prose')).toEqual(['hunter2'])
      expect(text).not.toContain('data-hides')
      const primary = elementsIn(text, 'a.primary, button.primary')
      expect(primary.map(({ attributes }) => 'data-downloads' in attributes)).toEqual([true])
    },
  )
})

test('the page of a dead link asks to tell the sender, whatever the reason', async () => {
  const spent = await make({ expire_after_views: 1 })
  await open(spent)
  const pages = await Promise.all([people.get(spent.path), people.get('/p/0123456789abcdefghjkmnpqrs')])
  for (const { status, text } of pages) {
    expect(status).toBe(404)
    expect(text).toContain('If you did not open it, tell the sender: somebody else may have.')
  }
  const [one, other] = pages.map(({ text }) => textsIn(text, 'main')[0])
  expect(one).toBe(other)
})

describe('a refused form', () => {
  test('of a secret link reports the problem once, below the focused field, and in the title', async () => {
    const { status, text } = await open(await make({ passphrase: 'sesame' }), { passphrase: 'open' })
    expect(status).toBe(422)
    expect(text.match(/That is not the passphrase/g)).toHaveLength(1)
    expect(factsOf(text).problems.passphrase).toStartWith('That is not the passphrase')
    expect(elementsIn(text, '#passphrase[autofocus][aria-invalid="true"]')).toHaveLength(1)
    expect(elementsIn(text, '[role="alert"]')).toEqual([])
    expect(titleOf(text)).toBe('Please check: A secret for you · Oncebox')
  })

  test.each([
    ['of a new token', '/users/token', { name: 'x'.repeat(300) }],
    ['of a new password', '/account/password', { current: 'wrong', password: 'short' }],
  ])('%s focuses only the summary', async (_, path, fields) => {
    const ann = await people.signIn('ann@example.org')
    const { status, text } = await ann.post(path, fields)
    expect(status).toBe(422)
    expect(elementsIn(text, '[autofocus]').map(({ attributes }) => attributes.class)).toEqual(['notice bad'])
    expect(elementsIn(text, '.notice.bad a[href^="#"]')).not.toEqual([])
  })
})

test('pages have titles of their own', async () => {
  const ann = await people.signIn('ann@example.org')
  const gone = await make({ expire_after_views: 1 })
  const revealed = await open(gone)
  const named = await make({ name: 'VPN' })
  const strangers = ['/', '/sign-in', '/nowhere', '/api', gone.path, (await make()).path]
  const members = [
    '/pushes',
    `/pushes/${named.url_token}`,
    '/account',
    '/users/token',
    '/account/two-factor',
    '/admin',
  ]
  const texts = [
    revealed.text,
    (await people.get(`/p/${named.url_token}/preview`)).text,
    ...(await Promise.all(strangers.map(async (path) => (await people.get(path)).text))),
    ...(await Promise.all(members.map(async (path) => (await ann.get(path)).text))),
  ]
  const titles = texts.map(titleOf)
  expect(new Set(titles).size).toBe(titles.length)
  for (const title of titles) expect(title).toMatch(/^.+ · Oncebox$/)
})
