// The create form: it creates one push however often it is sent, and only for the account that opened it.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { LANGUAGES, tagOf } from '../../src/words/words.ts'
import { type Api, startApi } from '../support/api.ts'
import { readFolder } from '../support/needles.ts'
import { attributesIn, elementsIn } from '../support/page-facts.ts'
import { BOUNDARY, multipart, type Part } from './multipart.ts'

const PASSWORD = 'correct horse battery'
const ORIGIN = { origin: 'http://localhost' }

type Fields = Record<string, string>

let api: Api
beforeAll(async () => {
  api = await startApi()
  await api.addAccount('ann@example.org')
  await api.addAccount('bob@example.org')
})
afterAll(() => api.close())

function countPushes(of = api): number {
  const database = new Database(join(of.dataDir, 'oncebox.db'), { readonly: true })
  try {
    return database.query<{ n: number }, []>('SELECT count(*) AS n FROM pushes').get()?.n ?? 0
  } finally {
    database.close()
  }
}

const stored = () => readFolder(join(api.dataDir, 'files')).length

async function ask(path: string, { cookie = '', of = api } = {}) {
  const response = await of.fetch(path, { headers: { cookie } })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

async function signIn(email: string, of = api): Promise<string> {
  const answer = await of.fetch('/sign-in', {
    body: new URLSearchParams({ email, password: PASSWORD }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...ORIGIN },
  })
  expect(answer.status).toBe(303)
  return answer.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
}

/** Returns the hidden fields of the form, and its preset ticks. */
function unseenIn(text: string): Fields {
  const inputs = elementsIn(text, '[type="hidden"][name^="push["]')
  return Object.fromEntries(inputs.map(({ attributes: { name = '', value = '' } }) => [name, value]))
}

const KEY = 'push[idempotency_key]'

async function openForm(cookie = '', of = api): Promise<Fields> {
  const { status, text } = await ask('/', { cookie, of })
  expect(status).toBe(200)
  return unseenIn(text)
}

type Sent = { cookie?: string; files?: Part[]; from?: string; of?: Api; path?: string; filesFirst?: boolean }

async function send(fields: Fields, options: Sent = {}) {
  const { cookie = '', files = [], from = '192.0.2.1', of = api, path = '/', filesFirst = false } = options
  const texts = Object.entries(fields).map(([name, content]) => ({ name, content }))
  const response = await of.fetch(path, {
    body: multipart(filesFirst ? [...files, ...texts] : [...texts, ...files]),
    headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}`, cookie, ...ORIGIN },
    from,
  })
  const location = response.headers.get('location') ?? ''
  return { status: response.status, location, text: await response.text() }
}

const TYPED: Fields = {
  'push[payload]': 'TYPED\nsecret',
  'push[kind]': 'text',
  'push[expire_after]': '3',
  'push[expire_unit]': 'hours',
  'push[expire_after_views]': '4',
  'push[passphrase]': 'TYPED passphrase',
  'push[retrieval_step]': 'false',
  'push[deletable_by_viewer]': 'true',
}

describe('the create form', () => {
  test('carries a new key of 128 random bits each time it is opened', async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, async () => (await openForm())[KEY] ?? ''))
    expect(new Set(keys).size).toBe(20)
    for (const key of keys) expect(key).toMatch(/^[\w-]{22}$/)
  })

  test.each(['signed out', 'signed in'])('creates one push when sent repeatedly, %s', async (who) => {
    const cookie = who === 'signed in' ? await signIn('ann@example.org') : ''
    const fields = { ...(await openForm(cookie)), ...TYPED }
    const before = countPushes()
    const answers = await Promise.all(Array.from({ length: 6 }, () => send(fields, { cookie })))
    const again = await send(fields, { cookie })
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(303))
    expect(again.location).toMatch(/^\/p\/\w{26}\/preview$/)
    expect(new Set([...answers, again].map(({ location }) => location)).size).toBe(1)
    expect(countPushes()).toBe(before + 1)
    await api.restart()
    expect((await send(fields, { cookie })).location).toBe(again.location)
    expect((await ask(again.location, { cookie })).text).toContain(again.location.slice(3, 29))
  })

  test('keeps its key while it is refused, and its fields may change then', async () => {
    const fields = { ...(await openForm()), ...TYPED }
    const refused = await send({ ...fields, 'push[expire_after_views]': '0' })
    expect(refused.status).toBe(422)
    expect(unseenIn(refused.text)[KEY]).toBe(fields[KEY]!)
    const created = await send(fields)
    expect(created.status).toBe(303)
    expect((await send(fields)).location).toBe(created.location)
  })

  test('sent again with other content says so, links to the existing push, and creates another when sent again', async () => {
    const fields = { ...(await openForm()), ...TYPED }
    const first = await send(fields)
    const before = countPushes()
    const refused = await send({ ...fields, 'push[payload]': 'OTHER' })
    expect(refused.status).toBe(422)
    expect(refused.text).toContain('already created a link, with other content')
    expect(refused.text).toContain(`href="${first.location}"`)
    expect(refused.text).toContain('OTHER</textarea>')
    expect(countPushes()).toBe(before)
    const key = unseenIn(refused.text)[KEY] ?? ''
    expect(key).not.toBe(fields[KEY]!)
    const second = await send({ ...fields, 'push[payload]': 'OTHER', [KEY]: key })
    expect(second.status).toBe(303)
    expect(second.location).not.toBe(first.location)
  })

  test('refused after a push was created never says that nothing was created', async () => {
    const fields = { ...(await openForm()), ...TYPED }
    const first = await send(fields)
    const refused = await send({ ...fields, 'push[payload]': '' })
    expect(refused.status).toBe(422)
    expect(refused.text).not.toContain('<p>Nothing was created')
    expect(refused.text).toContain(`href="${first.location}"`)
  })

  test('sent again after its push has expired says so, and creates another when sent again', async () => {
    const fields = { ...(await openForm()), ...TYPED, 'push[passphrase]': '' }
    const first = await send(fields)
    await api.expire(first.location.slice(3, 29))
    const refused = await send(fields)
    expect(refused.status).toBe(409)
    expect(refused.text).toContain('which no longer works')
    expect(refused.text).toContain('TYPED\nsecret')
    const second = await send({ ...fields, ...unseenIn(refused.text) })
    expect(second.status).toBe(303)
  })

  test.each([false, true])('stores its files once, files first: %p', async (filesFirst) => {
    const cookie = await signIn('ann@example.org')
    const file = (content: string): Part => ({
      name: 'push[files][]',
      content,
      disposition: 'filename="a.bin"',
    })
    const fields = { ...(await openForm(cookie)), ...TYPED, 'push[kind]': 'file' }
    const files = [file('x'.repeat(400_000)), file('small')]
    const before = stored()
    const both = await Promise.all([
      send(fields, { cookie, files, filesFirst }),
      send(fields, { cookie, files, filesFirst }),
    ])
    const again = await send(fields, { cookie, files, filesFirst })
    const [{ location }] = both
    expect([...both, again].map((sent) => [sent.status, sent.location])).toEqual(
      Array(3).fill([303, location]),
    )
    await api.sweep()
    expect(stored()).toBe(before + 2)
    const other = await send(fields, { cookie, files: [file('other'), file('small')], filesFirst })
    expect(other.status).toBe(422)
    await api.sweep()
    expect(stored()).toBe(before + 2)
  })
})

describe('a create form opened signed in', () => {
  const opened = async (email = 'ann@example.org'): Promise<{ cookie: string; fields: Fields }> => {
    const cookie = await signIn(email)
    const labels = { 'push[name]': 'TYPED name', 'push[note]': 'TYPED note' }
    return { cookie, fields: { ...(await openForm(cookie)), ...TYPED, ...labels } }
  }

  test('and sent signed out is refused with everything typed, and creates once the account sends it again', async () => {
    const { fields } = await opened()
    const before = countPushes()
    const refused = await send(fields)
    expect(refused.status).toBe(401)
    expect(refused.text).toContain('Sign in again in another tab')
    for (const text of ['TYPED\nsecret', 'TYPED passphrase', 'TYPED name', 'TYPED note'])
      expect(refused.text).toContain(text)
    expect(elementsIn(refused.text, 'option[value="hours"][selected]')).toHaveLength(1)
    // The next try is still signed out and creates nothing.
    const again = { ...fields, ...unseenIn(refused.text) }
    expect((await send(again)).status).toBe(401)
    expect(countPushes()).toBe(before)
    const cookie = await signIn('ann@example.org')
    const created = await send(again, { cookie })
    expect(created.status).toBe(303)
    expect(countPushes()).toBe(before + 1)
    expect((await ask('/pushes', { cookie })).text).toContain('TYPED name')
  })

  test.each([...LANGUAGES])('and sent signed out is refused in %s', async (language) => {
    const { fields } = await opened()
    const refused = await send(fields, { path: `/?locale=${language}` })
    expect(refused.status).toBe(401)
    expect(refused.text).toContain(`<html lang="${tagOf(language)}"`)
    expect(attributesIn(refused.text, '.notice.bad a', 'href')).toEqual([
      `/sign-in?next=/&locale=${language}`,
    ])
  })

  test('and sent signed out with files stores no file, and asks for the files again', async () => {
    const { fields } = await opened()
    const before = stored()
    const files: Part[] = [{ name: 'push[files][]', content: 'content', disposition: 'filename="a"' }]
    for (const filesFirst of [false, true]) {
      const refused = await send({ ...fields, 'push[kind]': 'file' }, { files, filesFirst })
      expect(refused.status).toBe(401)
      if (filesFirst) continue
      expect(refused.text).toContain('Sign in again in another tab')
      expect(refused.text).toContain('type="file"')
      expect(refused.text).toContain('choose them again')
    }
    expect(stored()).toBe(before)
  })

  test('and sent from another account is refused, and still belongs to the account that opened it', async () => {
    const { fields } = await opened()
    const before = countPushes()
    const bob = await signIn('bob@example.org')
    const refused = await send(fields, { cookie: bob })
    expect(refused.status).toBe(403)
    expect(refused.text).toContain('bob@example.org')
    expect(refused.text).not.toContain('ann@example.org')
    expect(refused.text).toContain('TYPED note')
    const again = { ...fields, ...unseenIn(refused.text) }
    expect((await send(again, { cookie: bob })).status).toBe(403)
    expect(countPushes()).toBe(before)
    expect((await send(again, { cookie: await signIn('ann@example.org') })).status).toBe(303)
  })

  test('and sent from a new session of the same account creates', async () => {
    const { fields } = await opened()
    expect((await send(fields, { cookie: await signIn('ann@example.org') })).status).toBe(303)
  })

  test('with a forged session mark is refused', async () => {
    const { fields } = await opened()
    const bob = await signIn('bob@example.org')
    for (const mark of [
      '',
      'x',
      '2',
      '2.x',
      `2.${fields['push[opened_by]']?.split('.')[1]}`,
      '-1.x',
      'NOBODY',
    ]) {
      const { status } = await send({ ...fields, 'push[opened_by]': mark }, { cookie: bob })
      expect({ mark, status }).toEqual({ mark, status: 403 })
    }
  })

  test('and sent by the same session creates, with the form token alone', async () => {
    const { cookie, fields } = await opened()
    const { 'push[opened_by]': _, ...rest } = fields
    expect((await send(rest, { cookie })).status).toBe(303)
    // For a signed-out sender the form token still names the account.
    expect((await send({ ...rest, [KEY]: 'x'.repeat(22) })).status).toBe(401)
  })
})

describe('a create form opened signed out', () => {
  test('and sent signed in creates a push of the account', async () => {
    const fields = { ...(await openForm()), ...TYPED }
    const cookie = await signIn('ann@example.org')
    const before = countPushes()
    const created = await send(fields, { cookie })
    expect(created.status).toBe(303)
    expect((await ask('/pushes', { cookie })).text).toContain(created.location.slice(3, 29))
    expect((await send(fields, { cookie })).location).toBe(created.location)
    expect(countPushes()).toBe(before + 1)
  })

  test('and sent before and after signing in creates one push', async () => {
    const fields = { ...(await openForm()), ...TYPED }
    const first = await send(fields)
    const cookie = await signIn('ann@example.org')
    expect((await send(fields, { cookie })).location).toBe(first.location)
  })
})

test('an instance without anonymous access keeps the form of an account too', async () => {
  const closed = await startApi({ flags: { 'anonymous-access': 'false' } })
  try {
    await closed.addAccount('ann@example.org')
    const cookie = await signIn('ann@example.org', closed)
    const fields = { ...(await openForm(cookie, closed)), ...TYPED }
    const refused = await send(fields, { of: closed })
    expect(refused.status).toBe(401)
    expect(refused.text).toContain('TYPED\nsecret')
    expect((await send(fields, { of: closed, cookie })).status).toBe(303)
    const { 'push[opened_by]': _, 'push[form]': __, ...strangers } = fields
    for (const opened of [{}, { 'push[opened_by]': 'nobody' }]) {
      const sent = await send({ ...strangers, ...opened }, { of: closed })
      expect(sent.status).toBe(303)
      expect(sent.location).toStartWith('/sign-in')
    }
    expect(countPushes(closed)).toBe(1)
  } finally {
    await closed.close()
  }
})

test('the card of the recipient follows the limits in its address, and creates nothing', async () => {
  const query = 'card=&views=3&expire_after_duration=exact&expire_after=2&expire_unit=hours&passphrase=true'
  const { status, text } = await ask(`/?${query}`)
  expect(status).toBe(200)
  expect(elementsIn(text, '.card .pips i')).toHaveLength(3)
  expect(elementsIn(text, '.card #passphrase')).toHaveLength(1)
  const [until = ''] = attributesIn(text, '.card time', 'datetime')
  expect(Date.parse(until) - api.clock.now()).toBe(2 * 3_600_000)
  const odd = await ask('/?card=&views=-1&expire_after=9e99&expire_after_views=x')
  expect([odd.status, elementsIn(odd.text, '.card').length]).toEqual([200, 1])
})
