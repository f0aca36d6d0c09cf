// The policies of an operator: what may be required of every push and account, and what is exempt.

import { afterEach, expect, test } from 'bun:test'
import { type Api, startApi, type Wire } from '../support/api.ts'
import { textsIn, valueIn } from '../support/page-facts.ts'
import { createPeople } from '../support/people.ts'
import { codeOf } from '../support/tour.ts'

const ANN = 'ann@example.org'
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

let api: Api
afterEach(() => api.close())

const start = async (flags: Record<string, string>) => {
  api = await startApi({ flags })
}

test('the version lists the policies that are set, and none by default', async () => {
  await start({
    'require-second-factor': 'true',
    'signup-domains': 'Example.org,example.net',
    'require-passphrase': 'true',
    'max-views-anonymous': '3',
  })
  const { body } = await api.call('/api/v2/version')
  expect((body.extensions as Wire).policies).toEqual({
    require_second_factor: true,
    signup_domains: ['example.org', 'example.net'],
    require_passphrase: true,
    max_views_anonymous: 3,
  })
})

test.each(['/api/v2/pushes', '/p.json'])(
  '%s refuses a push without the required passphrase',
  async (path) => {
    await start({ 'require-passphrase': 'true' })
    const token = await api.addAccount(ANN)
    const wrapper = path === '/p.json' ? 'password' : 'push'
    const post = (push: Wire) => api.call(path, { token, json: { [wrapper]: { payload: 'x', ...push } } })
    const refused = await post({})
    expect(refused.status).toBe(422)
    expect(refused.body.passphrase).toEqual(['is required on this server (--require-passphrase)'])
    for (const passphrase of ['', '   ']) expect((await post({ passphrase })).status).toBe(422)
    expect((await post({ passphrase: 'open sesame' })).status).toBe(201)
  },
)

test('the create form asks for the required passphrase, and is refused without it', async () => {
  await start({ 'require-passphrase': 'true' })
  const { text } = await api.call('/')
  expect(text).toMatch(/<input name="push\[passphrase\]"[^>]* required /)
  const body = new URLSearchParams({ 'push[payload]': 'x', 'push[kind]': 'text' })
  const refused = await api.call('/', { method: 'POST', body, headers: FORM })
  expect(refused.status).toBe(422)
  expect(refused.text).toContain('This server asks for a passphrase.')
})

test('an answer to a request needs no passphrase even if pushes do', async () => {
  await start({ 'require-passphrase': 'true', 'max-views-anonymous': '1' })
  const token = await api.addAccount(ANN)
  const asked = await api.call('/api/oncebox/requests', { token, json: { request: {} } })
  const answers = `/api/oncebox/requests/${asked.body.url_token}/answers`
  expect((await api.call(answers, { json: { push: { payload: 'x' } } })).status).toBe(201)
})

test('views without an account are limited, by default too, and those with an account are not', async () => {
  await start({ 'max-views-anonymous': '3' })
  const token = await api.addAccount(ANN)
  const refused = await api.post({ payload: 'x', expire_after_views: 4 })
  expect(refused.status).toBe(422)
  const rule = 'must be at most 3 without an account (--max-views-anonymous)'
  expect((refused.body as Wire).expire_after_views).toEqual([rule])
  const previous = { password: { payload: 'x', expire_after_views: 4 } }
  expect((await api.call('/p.json', { json: previous })).body.expire_after_views).toEqual([rule])
  expect((await api.create()).expire_after_views).toBe(3)
  expect((await api.create({ expire_after_views: 100 }, { token })).expire_after_views).toBe(100)
  const { text } = await api.call('/')
  expect(valueIn(text, 'push[expire_after_views]')).toBe('3')
})

test('only addresses at a listed domain may sign up, but an invitation may name any other', async () => {
  await start({ signups: 'true', 'signup-domains': 'example.org' })
  await api.addAccount(ANN, { isAdmin: true })
  const people = createPeople(api)
  const signUp = (email: string) => people.post('/sign-up', { email, password: people.password })
  for (const email of ['eve@example.com', 'eve@sub.example.org', 'eve@example.org.evil.test']) {
    const refused = await signUp(email)
    expect(refused.status).toBe(422)
    expect(refused.text).toContain('Addresses of this domain cannot sign up here.')
  }
  expect((await signUp('Bob@EXAMPLE.org')).status).toBe(303)
})

/** Signs in as Ann and sets up a second factor. Resolves to her browser and the answer with the codes. */
async function setUpSecondFactor() {
  await start({ 'require-second-factor': 'true' })
  const token = await api.addAccount(ANN, { isAdmin: true })
  const people = createPeople(api)
  const ann = await people.signIn(ANN)
  const page = await ann.get('/account/two-factor')
  const { password } = people
  const proof = { form: valueIn(page.text, 'form') ?? '', password }
  const turnOn = () =>
    ann.post('/account/two-factor', { ...proof, secret: SECRET, code: codeOf(SECRET, api.clock.now()) })
  return { token, ann, page, proof, turnOn }
}

test('an account sets up the required second factor before its pages work', async () => {
  const { token, ann, page, turnOn } = await setUpSecondFactor()
  for (const path of ['/', '/pushes', '/account', '/users/token', '/requests', '/admin']) {
    const led = await ann.get(path)
    expect([path, led.status, led.headers.get('location')]).toEqual([path, 303, '/account/two-factor'])
  }
  expect(page.text).toContain('This server asks every account for a second factor.')
  expect(textsIn((await turnOn()).text, '#codes')).toHaveLength(1)
  expect((await ann.get('/pushes')).status).toBe(200)
  expect((await api.create({}, { token })).expired).toBe(false)
})

test('turning the required second factor off leads to setting it up again', async () => {
  const { ann, proof, turnOn } = await setUpSecondFactor()
  await turnOn()
  expect((await ann.get('/pushes')).status).toBe(200)
  expect((await ann.post('/account/two-factor/off', proof)).status).toBe(303)
  expect((await ann.get('/pushes')).headers.get('location')).toBe('/account/two-factor')
})
