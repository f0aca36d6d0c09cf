// An outage in the middle of a form causes no loss, and nothing is counted or created twice.

import { expect, test } from 'bun:test'
import { DomainError } from '../../../src/domain/errors.ts'
import { wordsOf } from '../../../src/words/words.ts'
import { SOME_LANGUAGES } from '../../support/languages.ts'
import { fieldsOf, formOf } from '../../support/page-facts.ts'
import { codeOf } from '../../support/tour.ts'
import { away, BOB, NOTHING, useOutages } from './outages.ts'

const { say } = wordsOf('en')
const at = useOutages()

test('a right password is not counted as wrong if its session cannot be stored', async () => {
  at.store.failWith((operation) => (operation === 'sessions.addSession' ? away('disk_full') : null))
  for (let n = 0; n < 12; n += 1) {
    const { status } = await at.people.post('/sign-in', { email: BOB, password: at.people.password })
    expect(status).toBe(503)
  }
  at.store.heal()
  expect((await at.people.post('/sign-in', { email: BOB, password: at.people.password })).status).toBe(303)
})

test('a new account whose session cannot be stored redirects to sign-in', async () => {
  at.store.failWith((operation) => (operation === 'sessions.addSession' ? away() : null))
  const made = await at.people.post('/sign-up', { email: 'new@example.org', password: 'a long new password' })
  expect([made.status, made.headers.get('location')]).toEqual([303, '/sign-in'])
})

test('an outage right after a token or codes were created does not hide them', async () => {
  at.store.failWith((operation) => (operation === 'apiTokens.listApiTokens' ? away() : null))
  const token = await at.bob.post('/users/token', { name: 'once' })
  expect(token.status).toBe(200)
  expect(token.text).toMatch(/obx_\w+/)
  at.store.heal()
  const form = formOf((await at.bob.get('/account/two-factor')).text, '/account/two-factor')
  const secret = fieldsOf(form).secret ?? ''
  at.store.failWith((operation) => (operation === 'sessions.removeOtherSessions' ? away() : null))
  const code = codeOf(secret, at.api.clock.now())
  const codes = await at.bob.post('/account/two-factor', {
    ...fieldsOf(form),
    code,
    password: at.people.password,
  })
  expect(codes.status).toBe(200)
  expect(codes.text).toContain('id="codes"')
  expect(codes.text).toContain(say('two_factor_others'))
})

test.each(SOME_LANGUAGES)('an outage is explained in %s', async (language) => {
  at.store.failWith(NOTHING)
  const { text } = await at.people.post(`/sign-in?locale=${language}`, { email: BOB, password: 'x' })
  const words = wordsOf(language)
  for (const key of ['outage_overloaded', 'outage_retry'] as const) expect(text).toContain(words.say(key))
})

test('a cross-site form is refused even during an outage', async () => {
  at.store.failWith(NOTHING)
  const headers = { origin: 'https://evil.example' }
  const { status, text } = await at.people.post('/sign-in', { email: BOB }, { headers })
  expect([status, text.includes(BOB)]).toEqual([403, false])
})

test('a change with an unknown outcome is not reported as undone', async () => {
  const urlToken = await at.createOwned()
  const form = formOf((await at.bob.get(`/pushes/${urlToken}`)).text, `/pushes/${urlToken}/edit`)
  const lost = new DomainError('overloaded', 'lost', { isInDoubt: true })
  at.store.failWith((operation) => (operation === 'pushes.editPush' ? lost : null))
  const { status, text } = await at.bob.post(form.action, { ...fieldsOf(form), name: 'typed' })
  expect([status, text.includes(say('outage_doubt'))]).toEqual([503, true])
})
