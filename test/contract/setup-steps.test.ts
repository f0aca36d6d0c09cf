// The three setup steps of a new administrator: each is ticked off when done, and they disappear when all
// are.

import { afterEach, expect, test } from 'bun:test'
import { DAY } from '../../src/domain/time.ts'
import { type Api, startApi } from '../support/api.ts'
import { elementsIn } from '../support/page-facts.ts'
import { createPeople } from '../support/people.ts'

let api: Api
afterEach(() => api.close())

const ANN = 'ann@example.org'

async function start(flags: Record<string, string>) {
  api = await startApi({ flags })
  const token = await api.addAccount(ANN, { isAdmin: true })
  const ann = await createPeople(api).signIn(ANN)
  return { ann, token }
}

type Reader = {
  get: (path: string, init?: { headers: { cookie: string; host: string } }) => Promise<{ text: string }>
}

/** Returns which of the three are done; null if no steps are shown. */
async function readSteps(reader: Reader, path: string) {
  const steps = elementsIn((await reader.get(path)).text, 'ol.setup > li, ol.next-steps > li')
  return steps.length === 0
    ? null
    : steps.map(({ attributes }) => attributes.class?.split(' ').includes('good') === true)
}

test('a server on loopback names the flag that makes it reachable', async () => {
  const { ann, token } = await start({ host: 'localhost' })
  expect(await readSteps(ann, '/admin/welcome')).toEqual([true, false, false])
  expect(await readSteps(ann, '/')).toEqual([true, false, false])
  const { text } = await ann.get('/admin/welcome')
  expect(text).toContain('--host 0.0.0.0</code>')
  expect(text).toContain('--lan</code>')
  await api.create({}, { token })
  expect(await readSteps(ann, '/')).toEqual([true, false, true])
})

test('the steps disappear with the first secret of this account; another account’s secrets do not count', async () => {
  const { ann, token } = await start({ 'base-url': 'https://once.example' })
  const other = await api.addAccount('bob@example.org')
  await api.create({}, { token: other })
  expect(await readSteps(ann, '/')).toEqual([true, true, false])
  const { url_token } = await api.create({}, { token })
  expect(await readSteps(ann, '/')).toBeNull()
  expect(await readSteps(ann, '/admin/welcome')).toBeNull()
  await api.expire(url_token, { token })
  expect(await readSteps(ann, '/')).toBeNull()
})

test('only a new administrator sees the steps', async () => {
  const { ann } = await start({ host: 'localhost' })
  await api.addAccount('bob@example.org')
  const people = createPeople(api)
  expect(await readSteps(await people.signIn('bob@example.org'), '/')).toBeNull()
  expect(await readSteps(people, '/')).toBeNull()
  expect(await readSteps(ann, '/')).not.toBeNull()
  api.clock.advance(31 * DAY)
  expect(await readSteps(await people.signIn(ANN), '/')).toBeNull()
})

test('the page of a new administrator says how to set up backups', async () => {
  const { ann } = await start({})
  expect((await ann.get('/admin/welcome')).text).toContain('--backup-dir</code>')
})
