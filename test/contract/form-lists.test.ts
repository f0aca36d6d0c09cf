// Lists in forms: a member that is repeated under one name, as the reference describes it and its clients
// send it.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Api, startApi } from '../support/api.ts'
import { BOUNDARY, multipart } from './multipart.ts'

let api: Api
let token = ''
beforeAll(async () => {
  api = await startApi({ flags: { 'webhook-hosts': 'hook.example' } })
  token = await api.addAccount('ann@example.org')
})
afterAll(() => api.close())

type Pairs = [name: string, value: string][]
type Lists = Record<string, unknown>

function sendUrlencoded(path: string, pairs: Pairs) {
  const body = Buffer.from(new URLSearchParams(pairs).toString())
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return api.call<Lists>(path, { method: 'POST', headers, body, token })
}

function sendMultipart(path: string, pairs: Pairs) {
  const body = multipart(pairs.map(([name, content]) => ({ name, content })))
  const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
  return api.call<Lists>(path, { method: 'POST', headers, body, token })
}

const FORMS = [
  {
    ...{ path: '/api/oncebox/requests', wrapper: 'request', member: 'accept' },
    others: [['request[max_answers]', '2']] satisfies Pairs,
    words: ['text', 'files'],
  },
  {
    ...{ path: '/api/oncebox/webhooks', wrapper: 'webhook', member: 'events' },
    others: [['webhook[url]', 'https://hook.example/x']] satisfies Pairs,
    words: ['push.opened', 'push.locked', 'backup.failed'],
  },
] as const

test('the reference has no other list in a form', async () => {
  type Properties = Record<string, { type?: string; items?: { enum?: string[] } }>
  type Reference = { components: { schemas: Record<string, { properties?: Properties }> } }
  const { body } = await api.call<Reference>('/api/v2/openapi.json')
  const lists = Object.entries(body.components.schemas)
    .filter(([name]) => name.endsWith('Form'))
    .flatMap(([, { properties = {} }]) => Object.entries(properties))
    .filter(([, { type, items }]) => type === 'array' && items?.enum !== undefined)
  expect(lists.map(([name]) => name)).toEqual(FORMS.map(({ wrapper, member }) => `${wrapper}[${member}]`))
})

describe.each([
  ['urlencoded', sendUrlencoded],
  ['multipart', sendMultipart],
])('a %s form', (_, send) => {
  test.each(FORMS)('of $path keeps every $member', async ({ path, wrapper, member, words, others }) => {
    for (const name of [`${wrapper}[${member}]`, `${wrapper}[${member}][]`]) {
      const { status, body } = await send(path, [
        ...others,
        ...words.map((word) => [name, word] as [string, string]),
      ])
      expect([status, body[member]]).toEqual([201, expect.arrayContaining([...words])])
    }
    const one = await send(path, [...others, [`${wrapper}[${member}]`, words[1]]])
    expect([one.status, one.body[member]]).toEqual([201, [words[1]]])
  })

  test.each(FORMS)('of $path refuses an invalid $member at any position', async (form) => {
    const { path, wrapper, member, words, others } = form
    const name = `${wrapper}[${member}]`
    for (const values of [
      ['nonsense', words[0]],
      [words[0], 'nonsense'],
      [words[0], 'nonsense', words[1]],
    ]) {
      const { status, body } = await send(path, [
        ...others,
        ...values.map((value) => [name, value] as [string, string]),
      ])
      expect([status, Object.keys(body)]).toEqual([422, ['error', member]])
    }
  })
})

describe('a payload without brackets', () => {
  const made = async () =>
    (await api.call<{ url_token: string }>('/api/oncebox/requests', { json: { request: {} }, token })).body
      .url_token

  test.each([
    ['urlencoded', sendUrlencoded],
    ['multipart', sendMultipart],
  ])('answers a request in a %s form', async (_, send) => {
    const urlToken = await made()
    expect(
      (await send(`/api/oncebox/requests/${urlToken}/answers`, [['payload', 'secret = 1']])).status,
    ).toBe(201)
    const { body } = await api.call<{ url_token: string; request?: string }[]>('/api/v2/pushes/active', {
      token,
    })
    const push = body.find(({ request }) => request === urlToken)
    expect((await api.retrieve(push?.url_token ?? '')).body.payload).toBe('secret = 1')
  })

  test('is accepted nowhere else, neither as another member nor in JSON', async () => {
    expect((await sendUrlencoded('/api/v2/pushes', [['payload', 'x']])).status).toBe(400)
    expect((await sendMultipart('/api/v2/pushes', [['payload', 'x']])).status).toBe(400)
    expect((await sendUrlencoded('/p.json', [['payload', 'x']])).status).toBe(400)
    const answers = `/api/oncebox/requests/${await made()}/answers`
    expect((await sendUrlencoded(answers, [['passphrase', 'x']])).status).toBe(400)
    expect((await api.call(answers, { json: { payload: 'x' } })).status).toBe(400)
  })
})
