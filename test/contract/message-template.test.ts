// The message of an account for its secret links: stored, validated, and shown on the page of each new link.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Api, startApi } from '../support/api.ts'
import { attributesIn, textsIn, valueIn } from '../support/page-facts.ts'

const FORM = { 'content-type': 'application/x-www-form-urlencoded', origin: 'http://localhost' }

let api: Api
/** Bob's template. */
let token = ''
beforeAll(async () => {
  api = await startApi()
  await api.addAccount('ann@example.org')
  token = await api.addAccount('bob@example.org')
})
afterAll(() => api.close())

const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  api.fetch(path, {
    method: 'POST',
    headers: { ...FORM, ...headers },
    body: new URLSearchParams(fields).toString(),
  })

async function signIn(email: string) {
  const answer = await post('/sign-in', { email, password: 'correct horse battery' })
  const cookie = answer.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
  const page = await (await api.fetch('/account/message', { headers: { cookie } })).text()
  return { cookie, form: valueIn(page, 'form') }
}

async function messageOn(
  urlToken: string,
  headers: Record<string, string> = {},
  query = '',
): Promise<string> {
  const page = await (await api.fetch(`/p/${urlToken}/preview${query}`, { headers })).text()
  return textsIn(page, 'textarea#message')[0] ?? ''
}

test('the page of a new link has the message of the signed-in account', async () => {
  const { cookie, form } = await signIn('ann@example.org')
  const kept = await post(
    '/account/message',
    { message: ' Hi\r\n{link} {views} {x} </textarea> ', form },
    { cookie },
  )
  expect(kept.status).toBe(303)
  const { url_token, html_url } = await api.create({ expire_after_views: 1 })
  expect(await messageOn(url_token, { cookie })).toBe(`Hi\n${html_url} once {x} </textarea>`)
  const bob = await signIn('bob@example.org')
  for (const headers of [{}, { cookie: bob.cookie }])
    expect(await messageOn(url_token, headers)).toContain('I am sharing something with you')
  await post('/account/message', { message: ' ', form }, { cookie })
  expect(await messageOn(url_token, { cookie })).toContain('I am sharing something with you')
})

/** Creates a push whose recipient was typed under “For whom?”. */
async function createFor(name: string, { cookie, form }: { cookie: string; form: string }) {
  const push = await api.create({}, { token })
  await post(`/pushes/${push.url_token}/edit`, { name, note: '', ends_in: '', views: '', form }, { cookie })
  return push
}

test.each([
  ['en', 'Hi Anna {link},\n\nI am'],
  ['de', 'Hallo Anna {link},\n\nich '],
  ['fr', 'Bonjour Anna {link},\n\nJe '],
  ['es', 'Hola, Anna {link}:\n\nQuiero '],
  ['ja', 'Anna {link} 様\n\nお'],
  ['ar', 'مرحبًا Anna {link}،\n\nأود '],
])(
  'the message greets the recipient by name in %s, on the owner’s page alone',
  async (language, greeting) => {
    const bob = await signIn('bob@example.org')
    const named = await createFor('Anna {link}', bob)
    const locale = `?locale=${language}`
    const messageTo = (headers: Record<string, string>) => messageOn(named.url_token, headers, locale)
    expect(await messageTo({ cookie: bob.cookie })).toStartWith(greeting)
    expect(await messageTo({})).not.toContain('Anna')
    const unnamed = await api.create({}, { token })
    expect(await messageOn(unnamed.url_token, { cookie: bob.cookie }, locale)).toBe(
      (await messageTo({})).replaceAll(named.html_url, unnamed.html_url),
    )
  },
)

test('the placeholder for the name is replaced by it', async () => {
  const bob = await signIn('bob@example.org')
  const { cookie, form } = bob
  await post('/account/message', { message: 'Dear {name}, {link}', form }, { cookie })
  const named = await createFor('Anna', bob)
  expect(await messageOn(named.url_token, { cookie })).toBe(`Dear Anna, ${named.html_url}`)
  const unnamed = await api.create({}, { token })
  expect(await messageOn(unnamed.url_token, { cookie })).toBe(`Dear, ${unnamed.html_url}`)
  await post('/account/message', { message: ' ', form }, { cookie })
})

test('the message says that there is a passphrase, but does not contain it', async () => {
  const { url_token } = await api.create({ passphrase: 'sesame' })
  expect(await messageOn(url_token)).toEndWith('You need a passphrase, which I will send separately.')
})

test.each([
  ['without its link', 'Hello', 'needs {link}'],
  ['that is too long', `{link}${'日'.repeat(1995)}`, 'Too long: at most 2,000'],
  ['with invisible characters', '{link}\u0007', 'invisible characters'],
])('a template %s is refused, and the typed text stays', async (_, message, problem) => {
  const { cookie, form } = await signIn('ann@example.org')
  const answer = await post('/account/message', { message, form }, { cookie })
  expect(answer.status).toBe(422)
  const page = await answer.text()
  expect(page.includes(problem)).toBe(true)
  expect(page.includes(message)).toBe(true)
  expect((await post('/account/message', { message: '{link}', form: 'x' }, { cookie })).status).toBe(403)
})

test.each(['en', 'de', 'fr', 'es', 'ja', 'ar'])('the e-mail is fully encoded, in %s', async (language) => {
  const { url_token, html_url } = await api.create({ passphrase: 'sesame' })
  const page = await (await api.fetch(`/p/${url_token}/preview?locale=${language}`)).text()
  const href = attributesIn(page, 'a[href^="mailto:"]', 'href')[0] ?? ''
  expect(href).toMatch(/^mailto:\?subject=[\w%.!~*'()-]+&body=[\w%.!~*'()-]+$/)
  const { searchParams } = new URL(href)
  expect(searchParams.get('body')?.split('\r\n')).toContain(html_url)
  expect(searchParams.get('subject')).not.toBe('')
})

test('the preview shows a link like a real one, with its retrieval step', async () => {
  const { cookie } = await signIn('ann@example.org')
  const page = await (await api.fetch('/account/message', { headers: { cookie } })).text()
  expect(attributesIn(page, '[data-link]', 'data-link')).toEqual([
    expect.stringMatching(/^http:\/\/[^"]+\/p\/\w+\/r$/),
  ])
})
