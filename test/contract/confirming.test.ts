// Forms with far-reaching effects ask for the password again, and changing a password revokes what was
// created with the old one.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { MINUTE } from '../../src/domain/time.ts'
import { type Api, startApi } from '../support/api.ts'
import { elementsIn } from '../support/page-facts.ts'
import { createPeople, type People, type Person } from '../support/people.ts'
import { codeOf } from '../support/tour.ts'
import { nonceOf, welcomePathIn } from './pages/pages.ts'

const ANN = 'ann@example.org'
const BOB = 'bob@example.org'
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

let api: Api
let people: People
let ann: Person
let bobId: number
beforeEach(async () => {
  api = await startApi()
  people = createPeople(api)
  await api.addAccount(ANN, { isAdmin: true })
  await api.addAccount(BOB)
  bobId = (await api.accounts().requireAccount(BOB)).id
  ann = await people.signIn(ANN)
})
afterEach(() => api.close())

const later = () => api.clock.advance(10 * MINUTE)
const hiddenIn = (text: string) =>
  Object.fromEntries(
    elementsIn(text, '[type="hidden"]').map(({ attributes: { name = '', value = '' } }) => [name, value]),
  )
const isTicked = (text: string, id: string) => elementsIn(text, `#${id}[checked]`).length === 1
const tokensOf = async (email: string) => (await api.apiTokens().listApiTokens(email)).length

const turnOn = async (person: Person) => {
  const code = codeOf(SECRET, api.clock.now())
  const given = { secret: SECRET, code, password: people.password }
  expect((await person.post('/account/two-factor', given)).text).toContain('id="codes"')
}

type Act = {
  path: () => string
  fields: Record<string, string>
  done: (text: string) => boolean | Promise<boolean>
}

const ACTS: Record<string, Act> = {
  'an API token': {
    path: () => '/users/token',
    fields: { name: 'for "scripts" & more' },
    done: async () => (await tokensOf(ANN)) > 1,
  },
  'an invitation': {
    path: () => '/admin/invitations',
    fields: { email: 'x@example.org', is_admin: 'true' },
    done: (text) => welcomePathIn(text) !== 'none',
  },
  'a link for a new password': {
    path: () => `/admin/accounts/${bobId}/reset`,
    fields: {},
    done: (text) => welcomePathIn(text) !== 'none',
  },
  'enabling an account': {
    path: () => `/admin/accounts/${bobId}/enable`,
    fields: {},
    done: async () => (await api.accounts().requireAccount(BOB)).disabledAt === null,
  },
  'removing an account': {
    path: () => `/admin/accounts/${bobId}/remove`,
    fields: { sure: 'true' },
    done: async () => (await api.accounts().findAccount(BOB)) === null,
  },
}

describe.each(Object.entries(ACTS))('%s', (_name, { path, fields, done }) => {
  beforeEach(async () => {
    if (path().endsWith('enable')) await api.accounts().disableAccount(BOB)
  })

  test('needs no confirmation within ten minutes of signing in', async () => {
    api.clock.advance(10 * MINUTE - 1)
    expect(await done((await ann.post(path(), fields)).text)).toBe(true)
  })

  test('asks for the password after ten minutes and keeps what was typed; a wrong password does nothing', async () => {
    later()
    const asked = await ann.post(path(), fields)
    expect(asked.status).toBe(403)
    expect(await done(asked.text)).toBe(false)
    expect(asked.text).toContain(`action="${path()}"`)
    const kept = hiddenIn(asked.text)
    expect(kept).toMatchObject(fields)
    expect(kept.password).toBeUndefined()
    const wrong = await ann.post(path(), { ...kept, password: 'not the password' })
    expect(wrong.status).toBe(422)
    expect(await done(wrong.text)).toBe(false)
    expect(wrong.text).not.toContain('not the password')
    const right = await ann.post(path(), { ...hiddenIn(wrong.text), password: people.password })
    expect(await done(right.text)).toBe(true)
    // The confirmation lasts for ten minutes.
    expect((await ann.post('/users/token', { name: 'next' })).status).toBe(200)
  })

  test('a restart does not change whether the password is asked for', async () => {
    await api.restart()
    expect(await done((await ann.post(path(), fields)).text)).toBe(true)
    later()
    await api.restart()
    expect((await ann.post(path(), fields)).status).toBe(403)
  })
})

test('a confirmation does not extend to other sessions', async () => {
  later()
  await people.signIn(ANN)
  expect((await ann.post('/users/token', { name: 'x' })).status).toBe(403)
})

test('a form without its token is refused before the password is asked for', async () => {
  later()
  const given = { form: 'x', name: 'x', password: people.password }
  expect((await ann.post('/users/token', given)).text).not.toContain('id="password"')
  expect(await tokensOf(ANN)).toBe(1)
})

test('with a second factor, the code is required too, and works once', async () => {
  await turnOn(ann)
  later()
  const asked = await ann.post('/users/token', { name: 'x' })
  expect(asked.text).toContain('name="code"')
  const { password } = people
  const code = codeOf(SECRET, api.clock.now())
  expect((await ann.post('/users/token', { name: 'x', password })).status).toBe(422)
  expect((await ann.post('/users/token', { name: 'x', password, code: '000000' })).status).toBe(422)
  expect((await ann.post('/users/token', { name: 'x', password: 'wrong', code })).status).toBe(422)
  expect(await tokensOf(ANN)).toBe(1)
  expect((await ann.post('/users/token', { name: 'x', password, code })).status).toBe(200)
  expect(await tokensOf(ANN)).toBe(2)
  later()
  const reused = await ann.post('/users/token', { name: 'y', password, code })
  expect(reused.status).toBe(422)
})

test('turning the second factor off requires a code unless one was confirmed recently', async () => {
  await turnOn(ann)
  later()
  const { password } = people
  expect((await ann.get('/account')).text).toContain('id="two-factor-code"')
  expect((await ann.post('/account/two-factor/off', { password })).status).toBe(422)
  expect((await api.accounts().requireAccount(ANN)).hasTwoFactor).toBe(true)
  const code = codeOf(SECRET, api.clock.now())
  expect((await ann.post('/account/two-factor/off', { password, code })).status).toBe(303)
  expect((await api.accounts().requireAccount(ANN)).hasTwoFactor).toBe(false)
})

test('turning a second factor on late asks for the password, and keeps secret and code', async () => {
  later()
  const fields = { secret: SECRET, code: codeOf(SECRET, api.clock.now()) }
  const asked = await ann.post('/account/two-factor', fields)
  expect(asked.status).toBe(403)
  expect(hiddenIn(asked.text)).toMatchObject(fields)
  const on = await ann.post('/account/two-factor', { ...hiddenIn(asked.text), password: people.password })
  expect(on.text).toContain('id="codes"')
})

test('guesses of the password are limited like those of signing in', async () => {
  later()
  const tries = []
  for (let n = 0; n < 12; n += 1)
    tries.push((await ann.post('/users/token', { name: 'x', password: 'wrong' })).status)
  expect(tries).toEqual([...Array(10).fill(422), 429, 429])
  expect((await ann.post('/users/token', { name: 'x', password: people.password })).status).toBe(429)
  expect(await tokensOf(ANN)).toBe(1)
})

test('a session of an older version counts as unconfirmed', async () => {
  const { alterDatabase } = await import('../support/damage.ts')
  alterDatabase(api.dataDir, 'UPDATE sessions SET confirmed_at = 0')
  expect((await ann.post('/users/token', { name: 'x' })).status).toBe(403)
})

describe('changing the password', () => {
  const NEXT = 'another long password'

  test('offers to revoke tokens and links made with the old password, ticked', async () => {
    const { text } = await ann.get('/account')
    expect(isTicked(text, 'revoke')).toBe(true)
  })

  test.each([true, false])('revokes tokens and links if that is ticked: %p', async (revoke) => {
    const made = await ann.post('/admin/invitations', { email: 'x@example.org', is_admin: 'true' })
    const link = welcomePathIn(made.text)
    const fields = { current: people.password, password: NEXT, ...(revoke ? { revoke: 'true' } : {}) }
    const changed = await ann.post('/account/password', fields)
    expect(changed.status).toBe(303)
    const told = await ann.get(changed.headers.get('location') ?? '')
    expect(told.text.includes('revoked')).toBe(revoke)
    expect(await tokensOf(ANN)).toBe(revoke ? 0 : 1)
    expect(await tokensOf(BOB)).toBe(1)
    expect((await people.get(link)).status).toBe(revoke ? 404 : 200)
  })

  test('keeps the tick in a refused form', async () => {
    const left = await ann.post('/account/password', { current: 'wrong', password: NEXT })
    expect(isTicked(left.text, 'revoke')).toBe(false)
    const ticked = await ann.post('/account/password', { current: 'wrong', password: NEXT, revoke: 'true' })
    expect(isTicked(ticked.text, 'revoke')).toBe(true)
    expect(await tokensOf(ANN)).toBe(1)
  })

  test('prevents concurrent requests from creating tokens afterwards', async () => {
    const thief = await people.signIn(ANN)
    const body = new URLSearchParams({ form: thief.form, name: 'stolen' }).toString()
    const { promise: rest, resolve: sendRest } = Promise.withResolvers<void>()
    const { promise: reading, resolve: noteReading } = Promise.withResolvers<void>()
    let isFirst = true
    const stream = new ReadableStream({
      async pull(controller) {
        if (isFirst) controller.enqueue(new TextEncoder().encode(body.slice(0, 8)))
        else {
          noteReading()
          await rest
          controller.enqueue(new TextEncoder().encode(body.slice(8)))
          controller.close()
        }
        isFirst = false
      },
    })
    const headers = {
      cookie: thief.cookie,
      origin: 'http://localhost',
      'content-type': 'application/x-www-form-urlencoded',
    }
    const slow = api.fetch('/users/token', { method: 'POST', body: stream, headers })
    await reading
    await ann.post('/account/password', { current: people.password, password: NEXT, revoke: 'true' })
    sendRest()
    expect((await slow).status).toBe(303)
    expect(await tokensOf(ANN)).toBe(0)
  })

  test('a session that has ended creates no token or link, not even in the same commit', async () => {
    const gone = 4711
    await expect(api.apiTokens().createApiToken({ email: ANN, session: gone })).rejects.toThrow('has ended')
    expect(await tokensOf(ANN)).toBe(1)
  })
})

describe('reloading the page that shows a link', () => {
  test.each([
    ['invitation', () => '/admin/invitations'],
    ['new password', () => `/admin/accounts/${bobId}/reset`],
  ])('keeps the link: %s', async (_name, path) => {
    const { text } = await ann.get('/admin')
    const fields = { email: 'x@example.org', nonce: nonceOf(text, path()) }
    const first = welcomePathIn((await ann.post(path(), fields)).text)
    const again = await ann.post(path(), fields)
    expect(welcomePathIn(again.text)).toBe('none')
    expect(again.text).toContain('was sent before')
    expect((await people.get(first)).status).toBe(200)
    // A fresh page replaces the link.
    const fresh = { ...fields, nonce: nonceOf(again.text, path()) }
    const second = welcomePathIn((await ann.post(path(), fresh)).text)
    expect([(await people.get(first)).status, (await people.get(second)).status]).toEqual([404, 200])
  })

  test('with an unknown nonce says that nothing was done, and keeps what was typed', async () => {
    const { text } = await ann.get('/admin')
    const nonce = nonceOf(text, '/admin/invitations')
    const other = `${nonce.startsWith('A') ? 'B' : 'A'}${nonce.slice(1)}`
    const stale = await ann.post('/admin/invitations', {
      ...{ email: 'x@example.org', is_admin: 'true', nonce: other },
    })
    expect(stale.text).toContain('Nothing was done')
    expect(stale.text).toContain('value="x@example.org"')
    expect(isTicked(stale.text, 'is_admin')).toBe(true)
  })
})
