// A clock in doubt on the administration page: the reason, and the button that accepts the clock.

import { afterEach, expect, test } from 'bun:test'
import { LANGUAGES, wordsOf } from '../../src/words/words.ts'
import { startInstance, type TestInstance } from '../support/instance.ts'
import { createPeople } from '../support/people.ts'

const DAY = 24 * 60 * 60 * 1000

let instance: TestInstance
afterEach(() => instance.close())

async function startInDoubt() {
  instance = await startInstance()
  await instance.addAccount('ann@example.org', { isAdmin: true })
  const created = await instance.fetch('/api/v2/pushes', { json: { push: { payload: 'x' } } })
  const { url_token } = (await created.json()) as { url_token: string }
  instance.clock.set(instance.clock.now() + 100 * DAY)
  return { url_token, ann: await createPeople(instance).signIn('ann@example.org') }
}

test('the page shows the doubt in each language, and the button ends it', async () => {
  const { ann, url_token } = await startInDoubt()
  for (const language of LANGUAGES) {
    const { text } = await ann.get(`/admin?locale=${language}`)
    expect(text).toContain(wordsOf(language).say('clock_accept'))
    expect(text).toContain(wordsOf(language).say('clock_doubt'))
  }
  const answer = await ann.post('/admin/clock', {})
  expect(answer.status).toBe(303)
  expect((await ann.get('/admin')).text).not.toContain(wordsOf('en').say('clock_doubt'))
  await instance.sweep()
  await instance.sweep()
  expect((await instance.fetch(`/api/v2/pushes/${url_token}`)).status).toBe(404)
  expect(instance.log.join('\n')).toContain('an administrator confirmed the clock')
})

test('accepting the clock requires the form token of an administrator', async () => {
  const { ann } = await startInDoubt()
  expect((await instance.fetch('/admin/clock', { method: 'POST' })).status).not.toBe(200)
  await instance.addAccount('bob@example.org')
  const bob = await createPeople(instance).signIn('bob@example.org')
  expect((await bob.post('/admin/clock', {})).status).toBe(403)
  expect((await ann.get('/admin')).text).toContain(wordsOf('en').say('clock_doubt'))
})

test('accepting the clock ends sessions and links that were made while it was ahead', async () => {
  const { ann } = await startInDoubt()
  const invited = await ann.post('/admin/invitations', { email: 'eve@example.org' })
  const [link = ''] = /\/welcome\/[\w-]+/.exec(invited.text) ?? []
  expect((await instance.fetch(link)).status).toBe(200)
  expect((await ann.get('/pushes')).status).toBe(200)
  instance.clock.set(instance.clock.now() - 100 * DAY)
  expect((await ann.get('/pushes')).status).not.toBe(200)
  expect((await instance.fetch(link)).status).toBe(404)
  expect((await (await createPeople(instance).signIn('ann@example.org')).get('/pushes')).status).toBe(200)
})
