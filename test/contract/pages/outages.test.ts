// Forms sent during an outage of the store: 503 with an explanation and Retry-After, and nothing is changed.
// The same form works once the store answers.

import { describe, expect, test } from 'bun:test'
import { wordsOf } from '../../../src/words/words.ts'
import { fieldsOf, formOf, formsIn, type PageForm } from '../../support/page-facts.ts'
import type { PageAnswer, People } from '../../support/people.ts'
import { codeOf } from '../../support/tour.ts'
import { BOB, NOTHING, OUTAGES, useOutages } from './outages.ts'

const SECRET = 'typed secret <"&\'>'
const { say } = wordsOf('en')
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const at = useOutages()

type Visitor = Pick<People, 'get' | 'post'>

type Case = {
  /** Opens the page with the form. */
  open: () => Promise<{ visitor: Visitor; page: PageAnswer; action: string }>
  typed: Record<string, string>
  secrets?: Record<string, string> | (() => Record<string, string>)
  /** Whether the form took effect. */
  done: (answer: PageAnswer) => Promise<boolean> | boolean
}

const opened = async (visitor: Visitor, path: string, action = path) => ({
  visitor,
  page: await visitor.get(path),
  action,
})
const isSignedIn = ({ headers }: PageAnswer) => headers.get('set-cookie')?.includes('session') === true
const guest = (): Visitor => ({ get: at.people.get, post: at.people.post })

let urlToken = ''

const CASES: Record<string, Case> = {
  'a passphrase': {
    open: async () => {
      const push = { payload: 'the payload', passphrase: SECRET, expire_after_views: 2 }
      urlToken = (await at.api.create(push)).url_token
      return opened(guest(), `/p/${urlToken}/r`)
    },
    typed: { passphrase: SECRET },
    done: ({ text }) => text.includes('the payload'),
  },
  'an e-mail address, to sign in': {
    open: () => opened(guest(), '/sign-in?next=%2Faccount', '/sign-in'),
    typed: { email: BOB },
    secrets: () => ({ password: at.people.password }),
    done: isSignedIn,
  },
  'an e-mail address, to sign up': {
    open: () => opened(guest(), '/sign-up'),
    typed: { email: 'new@example.org' },
    secrets: { password: 'a long new password' },
    done: isSignedIn,
  },
  'an address on the page of an invitation': {
    open: async () => {
      const page = await at.ann.get('/admin')
      const { text } = await at.ann.post('/admin/invitations', {
        ...fieldsOf(formOf(page.text, '/admin/invitations')),
        email: 'guest@example.org',
        password: at.people.password,
      })
      const [, path = ''] = /http:\/\/localhost(\/welcome\/[\w-]+)/.exec(text) ?? []
      return opened(guest(), path)
    },
    typed: { email: 'guest@example.org' },
    secrets: { password: 'a long new password' },
    done: isSignedIn,
  },
  'name and note of a push': {
    open: async () => {
      urlToken = await at.createOwned()
      return opened(at.bob, `/pushes/${urlToken}`, `/pushes/${urlToken}/edit`)
    },
    typed: { name: SECRET, note: `\nfirst ${SECRET}\nsecond`, ends_in: String(60 * 60 * 1000), views: '3' },
    done: ({ headers }) => headers.get('location')?.endsWith('done=edited') === true,
  },
  'the name of a token': {
    open: () => opened(at.bob, '/users/token'),
    typed: { name: SECRET },
    done: ({ text }) => /obx_\w+/.test(text),
  },
  'a message template': {
    open: () => opened(at.bob, '/account/message'),
    typed: { message: `\n${SECRET} {link}\n` },
    done: ({ headers }) => headers.get('location')?.endsWith('done=saved') === true,
  },
  'an age key': {
    open: () => opened(at.bob, '/account', '/account/age-key'),
    typed: { recipient: 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p' },
    done: ({ headers }) => headers.get('location')?.includes('done=key') === true,
  },
  'a request for a secret': {
    open: () => opened(at.bob, '/requests'),
    typed: { message: `\n${SECRET}`, name: SECRET },
    done: ({ headers }) => headers.get('location')?.startsWith('/requests/') === true,
  },
  'an answer to a request': {
    open: async () => {
      const made = await at.bob.post('/requests', { message: 'x' })
      const urlToken = made.headers.get('location')?.split('/').at(-1)
      const page = await at.people.get(`/q/${urlToken}`)
      const action = new RegExp(`/q/${urlToken}\\?key=[\\w-]+`).exec(page.text)?.[0] ?? ''
      return { visitor: guest(), page, action }
    },
    typed: { 'push[payload]': SECRET },
    done: ({ headers }) => headers.get('location')?.endsWith('?done=sent') === true,
  },
  'an address to invite': {
    open: () => opened(at.ann, '/admin', '/admin/invitations'),
    typed: { email: 'third@example.org', is_admin: 'true' },
    done: ({ text }) => text.includes('/welcome/'),
  },
  'the name of the server': {
    open: () => opened(at.ann, '/admin', '/admin/appearance'),
    typed: { name: 'Larkspur', contact: 'the desk', notice: 'Closed' },
    done: ({ headers }) => headers.get('location') === '/admin#appearance',
  },
  'the code of a sign-in': {
    open: async () => {
      await turnOn()
      const page = await at.people.post('/sign-in', {
        email: BOB,
        password: at.people.password,
        next: '/pushes',
      })
      return { visitor: guest(), page, action: '/sign-in/code' }
    },
    typed: {},
    secrets: () => ({ code: '' }),
    done: (answer) => isSignedIn(answer) && answer.headers.get('location') === '/pushes',
  },
  'the password that turns a second factor off': {
    open: async () => {
      await turnOn()
      return opened(at.bob, '/account', '/account/two-factor/off')
    },
    typed: {},
    secrets: () => ({ password: at.people.password }),
    done: ({ headers }) => headers.get('location') === '/account#two-factor',
  },
  'a new password for a link': {
    open: async () => {
      const { id } = await at.api.accounts().requireAccount(BOB)
      const action = `/admin/accounts/${id}/reset`
      const made = await at.ann.post(action, fieldsOf(formOf((await at.ann.get('/admin')).text, action)))
      const [, path = ''] = /http:\/\/localhost(\/welcome\/[\w-]+)/.exec(made.text) ?? []
      return opened(guest(), path)
    },
    typed: { email: BOB },
    secrets: { password: 'another long password' },
    done: isSignedIn,
  },
  'a new password': {
    open: () => opened(at.bob, '/account', '/account/password'),
    typed: {},
    secrets: () => ({ current: at.people.password, password: 'another long password' }),
    done: ({ headers }) => headers.get('location')?.includes('done=password') === true,
  },
  'the first code of a second factor': {
    open: () => opened(at.bob, '/account/two-factor'),
    typed: {},
    secrets: () => ({ code: '', password: at.people.password }),
    done: ({ text }) => text.includes('id="codes"'),
  },
}

/** Gives Bob a second factor, and advances the clock by a minute, for its next code. */
async function turnOn(): Promise<void> {
  const answer = await at.bob.post('/account/two-factor', {
    secret,
    code: codeOf(secret, at.api.clock.now()),
    password: at.people.password,
  })
  expect(answer.text).toContain('id="codes"')
  at.api.clock.advance(60_000)
}

/** Fills in the form of a page. */
function fill({ controls, action }: PageForm, { typed, secrets = {} }: Case): Record<string, string> {
  const kept = fieldsOf({ action, controls })
  const filled = { ...kept, ...typed, ...(typeof secrets === 'function' ? secrets() : secrets) }
  return filled.code === undefined
    ? filled
    : { ...filled, code: codeOf(kept.secret ?? secret, at.api.clock.now()) }
}

describe.each(OUTAGES)('while %s', (_name, fails, code) => {
  test.each(Object.entries(CASES))('%s is refused, and can be sent again', async (_form, given) => {
    const { visitor, page, action } = await given.open()
    const form = formOf(page.text, action)
    const sent = fill(form, given)
    at.store.failWith(fails)
    const answer = await visitor.post(action, sent)
    expect(answer.status).toBe(503)
    expect(Number(answer.headers.get('retry-after'))).toBeWithin(1, 61)
    expect(answer.text).toContain(say(`outage_${code}`))
    expect(answer.text).toContain(say('outage_retry'))
    at.store.heal()
    expect(await given.done(await visitor.post(action, sent))).toBe(true)
  })
})

test('the cases above cover every form with a text field', async () => {
  urlToken = await at.createOwned({ passphrase: SECRET })
  const pages = [
    '/',
    '/requests',
    '/account',
    '/users/token',
    '/account/message',
    '/account/two-factor',
    '/pushes',
  ]
  const asBob = await Promise.all(
    [...pages, `/pushes/${urlToken}`, `/p/${urlToken}`, `/p/${urlToken}/preview`].map((path) =>
      at.bob.get(path),
    ),
  )
  const asAnn = await Promise.all(['/admin?q=ann', '/admin/welcome'].map((path) => at.ann.get(path)))
  const asGuest = await Promise.all(
    ['/', '/sign-in', '/sign-up', `/p/${urlToken}/r`].map((path) => at.people.get(path)),
  )
  const actions = [...asBob, ...asAnn, ...asGuest].flatMap(({ status, text }) => {
    expect(status).toBe(200)
    return formsIn(text).filter(({ controls }) => controls.some(({ isTyped }) => isTyped))
  })
  expect([...new Set(actions.map(({ action }) => action))].sort()).toEqual(
    [
      '/',
      '/account/age-key',
      '/account/message',
      '/account/password',
      '/account/two-factor',
      '/admin',
      '/admin/appearance',
      '/admin/invitations',
      `/p/${urlToken}/r`,
      '/pushes',
      `/pushes/${urlToken}/edit`,
      '/requests',
      '/sign-in',
      '/sign-up',
      '/users/token',
    ].sort(),
  )
})

test.each(['/pushes?q=typed', '/pushes', '/admin?q=typed', '/admin', '/account'])(
  'GET %s answers 503 with Retry-After',
  async (path) => {
    at.store.failWith(NOTHING)
    const answer = await at.ann.get(path)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    expect(answer.text).toContain(say('outage_overloaded'))
  },
)

test('the API sends Retry-After too', async () => {
  const { apiToken } = await at.api.apiTokens().createApiToken({ email: BOB })
  at.store.failWith(NOTHING)
  const { status, headers } = await at.people.get('/api/v2/pushes/active', {
    headers: { authorization: `Bearer ${apiToken}` },
  })
  expect([status, headers.get('retry-after')]).toEqual([503, '1'])
})
