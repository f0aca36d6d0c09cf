// The additions of the create form to the API: kinds with their own fields, chips, and choices that an
// account keeps.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LANGUAGES } from '../../src/words/words.ts'
import { type Api, startApi } from '../support/api.ts'
import { createPeople, type Person } from '../support/people.ts'

const EMAIL = 'ann@example.org'

type Fields = Record<string, string>

const NARROW = {
  ...{ 'expire-after-days-max': '3', 'expire-after-days-default': '2' },
  ...{ 'expire-after-views-min': '2', 'expire-after-views-max': '4', 'expire-after-views-default': '4' },
}

let api: Api
let ann: Person
beforeAll(async () => {
  api = await startApi()
  await api.addAccount(EMAIL)
  ann = await createPeople(api).signIn(EMAIL)
})
afterAll(() => api.close())

async function send(fields: Fields, { of = api, path = '/', cookie = '' } = {}) {
  const named = Object.entries(fields).map(([name, value]) => [`push[${name}]`, value])
  const response = await of.fetch(path, {
    body: new URLSearchParams(named).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'http://localhost', cookie },
  })
  const urlToken = /\/p\/(\w{26})\/preview/.exec(response.headers.get('location') ?? '')?.[1] ?? ''
  return { status: response.status, urlToken, text: await response.text() }
}

/** Resolves to the push that the form creates, as its recipient gets it. */
async function made(fields: Fields, options: Parameters<typeof send>[1] = {}) {
  const { status, urlToken } = await send(fields, options)
  expect(status).toBe(303)
  return (await (options.of ?? api).retrieve(urlToken)).body
}

/** Returns the problem of each field, by its id. */
function problemsIn(text: string): Fields {
  const found = [...text.matchAll(/<p class="problem" id="([\w-]+)-problem">([^<]+)<\/p>/g)]
  return Object.fromEntries(found.map(([, id = '', problem = '']) => [id, problem]))
}

const isChecked = (text: string, id: string) => new RegExp(`id="${id}"[^>]* checked`).test(text)

describe('a link', () => {
  test.each([
    ['www.example.org/a', 'https://www.example.org/a'],
    ['example.org:8443', 'https://example.org:8443'],
    [' http://example.org ', 'http://example.org'],
  ])('%s is completed', async (link, payload) => {
    expect(await made({ kind: 'url', link })).toMatchObject({ kind: 'url', payload })
  })

  test('of the API is not completed', async () => {
    expect((await api.post({ kind: 'url', payload: 'www.example.org' })).status).toBe(422)
  })

  test('is refused beside its own field, which keeps it', async () => {
    const { status, text } = await send({ kind: 'url', link: 'javascript:alert(1)', payload: 'kept too' })
    expect(status).toBe(422)
    expect(Object.keys(problemsIn(text))).toEqual(['link'])
    expect(text).toContain('value="javascript:alert(1)"')
    expect(text).toContain('kept too</textarea>')
    expect(text).toContain('href="#link"')
  })

  test('from a program that sends one field for all kinds is accepted too', async () => {
    expect(await made({ kind: 'url', payload: 'https://example.org' })).toMatchObject({ kind: 'url' })
  })
})

describe('a QR code', () => {
  test.each<[Fields, string]>([
    [{ qr: 'a text' }, 'a text'],
    [{ payload: 'of a program' }, 'of a program'],
    [
      { kind: 'wifi', qr: 'not this', wifi_network: 'o;f', wifi_password: 'p:w' },
      'WIFI:T:WPA;S:o\\;f;P:p\\:w;;',
    ],
    [{ kind: 'wifi', wifi_type: 'WEP', wifi_network: 'o', wifi_password: 'p' }, 'WIFI:T:WEP;S:o;P:p;;'],
    [{ kind: 'wifi', wifi_type: 'nopass', wifi_network: 'o', wifi_password: 'p' }, 'WIFI:T:nopass;S:o;;'],
    [
      { kind: 'wifi', wifi_network: 'o', wifi_password: 'p', wifi_hidden: 'true' },
      'WIFI:T:WPA;S:o;P:p;H:true;;',
    ],
  ])('of %p', async (fields, payload) => {
    expect(await made({ kind: 'qr', ...fields })).toMatchObject({ kind: 'qr', payload })
  })

  test('of a network without a name or password is refused with both problems, and any others', async () => {
    const wifi = { kind: 'wifi', wifi_type: 'WEP', wifi_hidden: 'true' }
    const { status, text } = await send({ ...wifi, expire_after_views: '0', views: 'exact' })
    expect(status).toBe(422)
    expect(Object.keys(problemsIn(text)).sort()).toEqual([
      'expire_after_views',
      'wifi_network',
      'wifi_password',
    ])
    for (const id of ['kind-wifi', 'wifi-WEP', 'wifi_hidden']) expect(isChecked(text, id)).toBe(true)
  })
})

test('a network whose name and password are longer than a QR code holds is refused beside its fields', async () => {
  const long = ';'.repeat(1025)
  const wifi = { kind: 'wifi', wifi_network: long, wifi_password: long }
  const { status, text } = await send(wifi)
  expect([status, Object.keys(problemsIn(text)).sort()]).toEqual([422, ['wifi_network', 'wifi_password']])
})

test('a text that is too long to be accepted is not returned to the form; the other fields are', async () => {
  const { status, text } = await send({ payload: '"'.repeat(1024 * 1024 + 1), qr: 'kept' })
  expect([status, Object.keys(problemsIn(text))]).toEqual([422, ['payload']])
  expect(text).toContain('kept</textarea>')
  expect(text.length).toBeLessThan(200_000)
})

describe('when it expires', () => {
  const lifetimeOf = ({ created_at, expires_at }: { created_at: string; expires_at: string }) =>
    (Date.parse(expires_at) - Date.parse(created_at)) / 60_000

  test.each<[Fields, number, number]>([
    [{}, 7 * 24 * 60, 5],
    [{ expire_after_duration: '0', views: '1' }, 15, 1],
    [{ expire_after_duration: '3', expire_after: '9', expire_unit: 'days' }, 60, 5],
    [{ expire_after_duration: 'exact', expire_after: '36', expire_unit: 'hours' }, 36 * 60, 5],
    [{ expire_after: '90', expire_unit: 'minutes', expire_after_views: '7' }, 90, 7],
    [{ views: 'exact', expire_after_views: '42' }, 7 * 24 * 60, 42],
    [{ views: '10', expire_after_views: '42' }, 7 * 24 * 60, 10],
    [{ expire_after: '2', expire_unit: 'constructor' }, 2 * 24 * 60, 5],
  ])('with %p', async (fields, minutes, views) => {
    const push = await made({ payload: 'x', ...fields })
    expect([lifetimeOf(push), push.expire_after_views]).toEqual([minutes, views])
  })

  test.each<[Fields, string]>([
    [{ expire_after_duration: 'exact', expire_after: '' }, 'expire_after'],
    [{ expire_after_duration: 'exact', expire_after: '91', expire_unit: 'days' }, 'expire_after'],
    [{ expire_after_duration: 'exact', expire_after: '0', expire_unit: 'hours' }, 'expire_after'],
    [{ expire_after_duration: '18' }, 'expire_after'],
    [{ views: 'exact', expire_after_views: '' }, 'expire_after_views'],
    [{ views: '101' }, 'expire_after_views'],
  ])('%p is refused, with its part unfolded', async (fields, id) => {
    const { status, text } = await send({ payload: 'x', ...fields })
    expect(status).toBe(422)
    expect(Object.keys(problemsIn(text))).toEqual([id])
    expect(text).toMatch(/<details class="expiry" open/)
  })

  test('only choices within the limits of this server are offered', async () => {
    const narrow = await startApi({ flags: NARROW })
    try {
      const text = await (await narrow.fetch('/')).text()
      const offered = [
        ...text.matchAll(/name="push\[(expire_after_duration|views)\]" value="(\w+)"( checked)?/g),
      ]
      const values = offered.map(([, name, value, checked = '']) => `${name} ${value}${checked}`)
      expect(values).toEqual([
        ...['0', '3', '6', '7 checked', '8', 'exact'].map((value) => `expire_after_duration ${value}`),
        ...['3', '4 checked', 'exact'].map((value) => `views ${value}`),
      ])
    } finally {
      await narrow.close()
    }
  })
})

describe('the choices of an account', () => {
  const CHOICES = {
    ...{ payload: 'SECRET', passphrase: 'PASS', name: 'NAME', note: 'NOTE', kind: 'text' },
    ...{ expire_after_duration: 'exact', expire_after: '36', expire_unit: 'hours', views: '1' },
    ...{ retrieval_step: 'false', deletable_by_viewer: 'false', remember: 'true' },
  }
  const asAnn = (fields: Fields) => send({ form: ann.form, ...fields }, { cookie: ann.cookie })

  test('are not kept unless the form asks for that', async () => {
    expect((await asAnn({ ...CHOICES, remember: '' })).status).toBe(303)
    const { text } = await ann.get('/')
    expect(text).toContain('Use these next time')
    for (const id of ['expire-exact', 'views-0', 'remember'])
      expect({ id, isChecked: isChecked(text, id) }).toEqual({ id, isChecked: false })
  })

  test('are offered again on every device, without the secret, name or note', async () => {
    expect((await asAnn(CHOICES)).status).toBe(303)
    const elsewhere = await createPeople(api).signIn(EMAIL, { from: '192.0.2.99' })
    const { text } = await elsewhere.get('/')
    for (const id of ['expire-exact', 'views-0']) expect(isChecked(text, id)).toBe(true)
    for (const id of ['retrieval_step', 'deletable_by_viewer']) expect(isChecked(text, id)).toBe(false)
    expect(text).toMatch(/name="push\[expire_after\]"[^>]* value="36"/)
    expect(text).toMatch(/<option value="hours" selected/)
    for (const secret of ['SECRET', 'PASS', 'NAME', 'NOTE']) expect(text).not.toContain(secret)
  })

  test('do not apply to a visitor without an account', async () => {
    const text = await (await api.fetch('/')).text()
    expect(isChecked(text, 'retrieval_step')).toBe(true)
    expect(isChecked(text, 'views-0')).toBe(false)
  })

  test('are not changed by a form that was refused', async () => {
    expect((await asAnn({ payload: '', views: '10' })).status).toBe(422)
    expect(isChecked((await ann.get('/')).text, 'views-0')).toBe(true)
  })

  test('keep to limits that have changed', async () => {
    const first = await startApi()
    await first.addAccount(EMAIL)
    const { cookie, form: ofForm } = await createPeople(first).signIn(EMAIL)
    expect(
      (await send({ ...CHOICES, expire_after_duration: '15', form: ofForm }, { of: first, cookie })).status,
    ).toBe(303)
    const dataDir = mkdtempSync(join(tmpdir(), 'oncebox-choices-'))
    cpSync(first.dataDir, dataDir, { recursive: true })
    await first.close()
    const later = await startApi({ dataDir, flags: { ...NARROW, 'accept-move': 'true' } })
    const text = await (await later.fetch('/', { headers: { cookie } })).text()
    await later.close()
    expect(text).toMatch(/name="push\[expire_after_duration\]" value="8" checked/)
    expect(text).toMatch(/name="push\[views\]" value="exact" checked/)
    expect(text).toMatch(/name="push\[expire_after_views\]"[^>]* value="2"/)
  })

  test('are overridden by the URL of the form, within the limits', async () => {
    const { text } = await ann.get(
      '/?kind=url&expire_after_duration=3&expire_after_views=900&name=Router&retrieval_step=true',
    )
    expect(isChecked(text, 'kind-url')).toBe(true)
    expect(text).toMatch(/name="push\[expire_after_duration\]" value="3" checked/)
    expect(text).toMatch(/name="push\[expire_after_views\]"[^>]* value="100"/)
    expect(isChecked(text, 'retrieval_step')).toBe(true)
    expect(text).toContain('value="Router"')
  })

  test.each(['kind=__proto__', 'expire_after_days=0', 'expire_after_views=x', 'retrieval_step=maybe'])(
    'do not change because of a URL with %s',
    async (query) => {
      const text = await (await api.fetch(`/?${query}`)).text()
      for (const id of ['kind-text', 'expire-4', 'views-2', 'retrieval_step'])
        expect({ id, isChecked: isChecked(text, id) }).toEqual({ id, isChecked: true })
    },
  )
})

test.each([...LANGUAGES])('the line of expiry is complete in %s', async (language) => {
  const text = await (await api.fetch(`/?locale=${language}`)).text()
  const line = /<summary>.*?<\/summary>/.exec(text.slice(text.indexOf('class="expiry"')))?.[0] ?? ''
  expect(line).not.toContain('{')
  expect(line.match(/data-when="[\w-]+" class="chosen"/g)).toHaveLength(2)
})

test('without an account the form says why files need one, and links back to them', async () => {
  const text = await (await api.fetch('/')).text()
  expect(text).toContain('strangers cannot fill up this server')
  expect(text).toContain('href="/sign-in?next=%2F%3Fkind%3Dfile"')
  expect(text).not.toContain('type="file"')
})
