// Downloading the list and logs of an account from its page.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Api, type PushBody, startApi } from '../support/api.ts'
import { readTable } from '../support/csv.ts'
import { createPeople, type Person } from '../support/people.ts'

const ANN = 'ann@example.org'
let api: Api
let ann: Person
let token: string
let active: PushBody
let ended: PushBody

beforeAll(async () => {
  api = await startApi()
  token = await api.addAccount(ANN)
  const other = await api.addAccount('bob@example.org')
  ann = await createPeople(api).signIn(ANN)
  active = await api.create({ name: '=1+1', note: 'two\nlines, "quoted"', payload: 'unspoken' }, { token })
  ended = await api.create({ name: 'Ünï 日本', expire_after_views: 1 }, { token, from: '192.0.2.9' })
  await api.retrieve(ended.url_token, { from: '192.0.2.8', headers: { 'user-agent': '=cmd' } })
  await api.create({ name: 'of another' }, { token: other })
})
afterAll(() => api.close())

test('JSON has every push as the API lists it, with its log', async () => {
  const { headers, text } = await fetchAs('/account/list.json')
  expect(headers.get('content-disposition')).toBe(
    `attachment; filename="oncebox-list.json"; filename*=UTF-8''oncebox-list.json`,
  )
  expect(headers.get('cache-control')).toBe('no-store')
  const { pushes, exported_at, server } = JSON.parse(text)
  expect([server, Number.isNaN(Date.parse(exported_at))]).toEqual(['http://localhost', false])
  const lists = await Promise.all(['active', 'expired'].map((name) => listOf(name)))
  const logs = await Promise.all([active, ended].map(({ url_token }) => api.audit(url_token, token)))
  expect(pushes).toEqual(lists.flat().map((push, index) => ({ ...push, logs: logs[index] })))
  expect(text).not.toContain('unspoken')
  expect(text).not.toContain('of another')
})

test('CSV is one table, in which no cell is a formula', async () => {
  const { headers, text } = await fetchAs('/account/list.csv')
  expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
  const bytes = await (await api.fetch('/account/list.csv', { headers: { cookie: ann.cookie } })).bytes()
  expect(Buffer.from(bytes.subarray(0, 3)).toString('hex')).toBe('efbbbf')
  const rows = readTable(text)
  expect(rows.map(({ row, name, entry_kind }) => [row, name, entry_kind])).toEqual([
    ['push', "'=1+1", ''],
    ['entry', "'=1+1", 'creation'],
    ['push', 'Ünï 日本', ''],
    ['entry', 'Ünï 日本', 'creation'],
    ['entry', 'Ünï 日本', 'view'],
  ])
  expect(rows[0]).toMatchObject({ url_token: active.url_token, html_url: active.html_url, expired: 'false' })
  expect(rows[0]?.note).toBe('two\nlines, "quoted"')
  expect(rows[4]).toMatchObject({
    entry_ip: '192.0.2.8',
    entry_user_agent: "'=cmd",
    url_token: ended.url_token,
  })
})

test('the account page links to both files, and only their owner gets them', async () => {
  const { text } = await ann.get('/account')
  for (const path of ['/account/list.json', '/account/list.csv']) {
    expect(text).toContain(`href="${path}"`)
    expect((await api.fetch(path)).status).toBe(303)
  }
})

test('an account without pushes gets a file too', async () => {
  await api.addAccount('cleo@example.org')
  const cleo = await createPeople(api).signIn('cleo@example.org')
  expect(JSON.parse((await cleo.get('/account/list.json')).text).pushes).toEqual([])
  expect(readTable((await cleo.get('/account/list.csv')).text)).toEqual([])
})

test('a list of several pages is complete, each push once', async () => {
  await api.addAccount('dora@example.org')
  const dora = await createPeople(api).signIn('dora@example.org')
  const key = (await api.apiTokens().createApiToken({ email: 'dora@example.org' })).apiToken
  const made: string[] = []
  for (let n = 0; n < 120; n += 1) made.unshift((await api.create({}, { token: key })).url_token)
  for (const urlToken of made.slice(10, 70)) await api.expire(urlToken, { token: key })
  const { pushes } = JSON.parse((await dora.get('/account/list.json')).text)
  const tokens = pushes.map(({ url_token }: PushBody) => url_token)
  expect(tokens).toEqual([...made.slice(0, 10), ...made.slice(70), ...made.slice(10, 70)])
})

async function fetchAs(path: string) {
  const answer = await ann.get(path)
  expect(answer.status).toBe(200)
  return answer
}

async function listOf(name: string) {
  return (await (await api.fetch(`/api/v2/pushes/${name}`, { token })).json()) as PushBody[]
}

test('other requests are answered while a long list is read', async () => {
  await api.addAccount('emil@example.org')
  const emil = await createPeople(api).signIn('emil@example.org')
  const key = (await api.apiTokens().createApiToken({ email: 'emil@example.org' })).apiToken
  for (let n = 0; n < 1_500; n += 1)
    await api.create({ note: 'n'.repeat(5000) }, { token: key, from: `192.0.2.${n % 200}` })
  let turns = 0
  let isDone = false
  const count = () => {
    turns += 1
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const { text } = await emil.get('/account/list.json')
  isDone = true
  expect(JSON.parse(text).pushes).toHaveLength(1_500)
  expect(turns).toBeGreaterThan(3)
})
