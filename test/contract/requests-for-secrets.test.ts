// Requests for secrets: an account asks, a person with the link answers, and each answer becomes a push of
// the account.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { type Answer, type Api, type PushBody, startApi, type Wire } from '../support/api.ts'
import type { Init } from '../support/instance.ts'

const REQUESTS = '/api/oncebox/requests'
const DAY = 24 * 60 * 60 * 1000

type RequestBody = {
  url_token: string
  html_url: string
  created_at: string
  expires_at: string
  accept: string[]
  name: string
  message: string
  max_answers: number
  answers: number
  passphrase_required: boolean
  recipient: string | null
  closed: boolean
}
type Received = PushBody & { received?: boolean; request?: string | null }

let api: Api
let ann = ''
let bob = ''
beforeAll(async () => {
  api = await startApi()
  ann = await api.addAccount('ann@example.org')
  bob = await api.addAccount('bob@example.org')
})
afterAll(() => api.close())

const ask = (request: Wire = {}, init: Init = {}): Promise<Answer<RequestBody>> =>
  api.call<RequestBody>(REQUESTS, { token: ann, ...init, json: { request } })
const show = (urlToken: string, init: Init = {}) =>
  api.call<RequestBody>(`${REQUESTS}/${urlToken}`, { token: ann, ...init })
const close = (urlToken: string, init: Init = {}) => show(urlToken, { method: 'DELETE', ...init })
const answer = (urlToken: string, push: Wire, init: Init = {}) =>
  api.call(`${REQUESTS}/${urlToken}/answers`, { ...init, json: { push } })
const received = async (urlToken: string) =>
  (await api.call<Received[]>('/api/v2/pushes/active', { token: ann })).body.filter(
    ({ request }) => request === urlToken,
  )

/** A request that must exist. */
async function made(request: Wire = {}): Promise<string> {
  const { status, text, body } = await ask(request)
  if (status !== 201) throw new Error(`no request was made: ${status} ${text}`)
  return body.url_token
}

describe('asking', () => {
  test('returns the whole request, with the defaults', async () => {
    const { status, body } = await ask({ message: 'The password, please', name: 'Router' })
    expect(status).toBe(201)
    expect(body).toEqual({
      url_token: expect.stringMatching(/^[0-9a-hjkmnp-tv-z]{26}$/),
      html_url: `http://localhost/q/${body.url_token}`,
      created_at: new Date(api.clock.now()).toISOString(),
      expires_at: new Date(api.clock.now() + 7 * DAY).toISOString(),
      accept: ['text', 'files'],
      name: 'Router',
      message: 'The password, please',
      max_answers: 1,
      answers: 0,
      passphrase_required: false,
      recipient: null,
      closed: false,
    })
  })

  test('reads values as liberally as for a push, and takes the shorter of two times', async () => {
    const wanted = {
      accept: ['files'],
      max_answers: '100',
      expire_after_days: '90',
      expire_after_duration: 0,
    }
    const { body } = await ask({ ...wanted, passphrase: 'open sesame', note: 'unknown members are ignored' })
    expect(body).toMatchObject({ accept: ['files'], max_answers: 100, passphrase_required: true })
    expect(Date.parse(body.expires_at) - api.clock.now()).toBe(15 * 60 * 1000)
  })

  test.each([
    ['accept', []],
    ['accept', ['text', 'more']],
    ['accept', ['less', 'more']],
    ['accept', 'everything'],
    ['max_answers', 0],
    ['max_answers', 101],
    ['max_answers', 1.5],
    ['expire_after_days', 91],
    ['expire_after_duration', 18],
    ['recipient', 'age1nonsense'],
    ['recipient', 'AGE-SECRET-KEY-1QQQQ'],
  ])('refuses %s %j', async (name, value) => {
    const { status, body } = await ask({ [name]: value })
    expect(status).toBe(422)
    expect(body).toMatchObject({ [name]: [expect.any(String)] })
  })

  test.each([
    ['message', 10_001],
    ['name', 256],
    ['passphrase', 1025],
  ])('refuses a %s of %d characters', async (name, length) => {
    expect((await ask({ [name]: 'x'.repeat(length - 1) })).status).toBe(201)
    expect((await ask({ [name]: 'x'.repeat(length) })).status).toBe(422)
  })

  test('requires a token, a body and its wrapper object', async () => {
    expect((await api.call(REQUESTS, { json: { request: {} } })).status).toBe(401)
    expect((await api.call(REQUESTS, { json: { request: {} }, token: 'obx_wrong' })).status).toBe(401)
    const { status, body } = await api.call(REQUESTS, { token: ann, json: {} })
    const error = 'The body needs an object "request", as in {"request": {"message": "…"}}'
    expect({ status, body }).toEqual({ status: 400, body: { error } })
    expect((await api.call(REQUESTS, { token: ann, method: 'POST' })).status).toBe(400)
  })

  test('adds to the list of the account, newest first, invisible to others', async () => {
    const [first, second] = [await made(), await made()]
    const listed = (await api.call<RequestBody[]>(REQUESTS, { token: ann })).body.map((one) => one.url_token)
    expect(listed.slice(0, 2)).toEqual([second, first])
    expect((await show(first)).body.url_token).toBe(first)
    expect((await api.call<RequestBody[]>(REQUESTS, { token: bob })).body).toEqual([])
    expect((await api.call<RequestBody[]>(`${REQUESTS}?page=200`, { token: ann })).body).toEqual([])
    expect((await show(first, { token: bob })).status).toBe(404)
    expect((await close(first, { token: bob })).status).toBe(404)
    expect((await show(first)).body.closed).toBe(false)
    expect((await api.call(`${REQUESTS}/${first}`)).status).toBe(401)
  })

  test('does not answer the paths of the hosted service, which clients probe', async () => {
    const { body } = await api.call('/api/v2/version')
    expect(body).toMatchObject({ features: { requests: { enabled: false } }, extensions: { requests: true } })
    expect((await api.call('/api/v2/requests')).text).toBe('{"error":"not-found"}')
    expect((await api.call(`${REQUESTS}.json`, { token: ann })).status).toBe(200)
  })
})

describe('answering', () => {
  test('creates a push of the account, and reveals nothing about it to the sender', async () => {
    const urlToken = await made({ name: 'Router' })
    const { status, text } = await answer(urlToken, { payload: 'corréct horse\n' })
    expect({ status, text }).toEqual({ status: 201, text: '{"received":true}' })
    const [push] = await received(urlToken)
    expect(push).toMatchObject({ received: true, request: urlToken, kind: 'text', name: 'Router' })
    expect(push).toMatchObject({ expire_after_days: 7, expire_after_views: 5, passphrase_required: false })
    const { body } = await api.retrieve(push?.url_token ?? '', { token: ann })
    expect(body).toMatchObject({ payload: 'corréct horse\n' })
    expect(Object.keys(body)).not.toContain('request')
    expect((await show(urlToken)).body).toMatchObject({ answers: 1, closed: true })
  })

  test('ordinary pushes have neither member', async () => {
    await api.create({}, { token: ann })
    const ordinary = (await api.list('active', ann)).filter((push) => !('request' in push))
    expect(ordinary.length).toBeGreaterThan(0)
    expect(ordinary.some((push) => 'received' in push)).toBe(false)
  })

  test('is possible exactly as often as the request says', async () => {
    const urlToken = await made({ max_answers: 2 })
    expect((await answer(urlToken, { payload: 'one' })).status).toBe(201)
    expect((await show(urlToken)).body).toMatchObject({ answers: 1, closed: false })
    expect((await answer(urlToken, { payload: 'two' })).status).toBe(201)
    const { status, text } = await answer(urlToken, { payload: 'three' })
    expect({ status, text }).toEqual({ status: 410, text: '{"error":"request-closed"}' })
    expect(await received(urlToken)).toHaveLength(2)
  })

  test('twenty concurrent answers to a request for one answer create one push', async () => {
    const urlToken = await made()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => answer(urlToken, { payload: `n${n}` })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 410)).toHaveLength(19)
    expect(await received(urlToken)).toHaveLength(1)
  })

  test('answers 410 for a closed or expired request, and 404 for an unknown one', async () => {
    const closed = await made()
    expect((await close(closed)).body.closed).toBe(true)
    expect((await close(closed)).body.closed).toBe(true)
    expect((await answer(closed, { payload: 'x' })).status).toBe(410)
    const late = await made({ expire_after_duration: 0 })
    api.clock.advance(15 * 60 * 1000)
    expect((await answer(late, { payload: 'x' })).status).toBe(410)
    expect((await show(late)).body.closed).toBe(true)
    for (const urlToken of [closed.replace(/./g, 'z'), 'nonsense', (await api.create()).url_token])
      expect((await answer(urlToken, { payload: 'x' })).status).toBe(404)
    expect((await api.retrieve(closed)).status).toBe(404)
  })

  test.each([
    [{}, ['payload']],
    [{ payload: ' ' }, ['payload']],
    [{ payload: 'x', kind: 'url' }, ['kind']],
    [{ payload: 'x', expire_after_views: 3, name: 'n', note: 'n' }, ['expire_after_views', 'name', 'note']],
    [{ payload: 'x', account_id: 3, error: 'x' }, ['account_id', 'push']],
    [{ payload: 7 }, ['payload']],
    [{ payload: 'x', files: [{ filename: 'a', data: '!' }] }, ['files']],
  ])('refuses %j', async (push, names) => {
    const urlToken = await made()
    const { status, body } = await answer(urlToken, push)
    expect(status).toBe(422)
    expect(
      Object.keys(body)
        .filter((name) => name !== 'error')
        .sort(),
    ).toEqual(names.sort())
    expect((await answer(urlToken, { payload: 'x', name: '', note: null })).status).toBe(201)
  })

  test('accepts only the content that the request asks for', async () => {
    const files = [{ filename: 'a.txt', data: btoa('abc') }]
    const text = await made({ accept: ['text'] })
    expect((await answer(text, { payload: 'x', files })).body).toMatchObject({ files: ['are not asked for'] })
    const file = await made({ accept: ['files'] })
    expect((await answer(file, { payload: 'x', files })).body).toMatchObject({
      payload: ['is not asked for'],
    })
    expect((await answer(file, {})).body).toMatchObject({ files: ["can't be blank"] })
    expect((await answer(file, { payload: 'x', passphrase: 7 })).body).toMatchObject({
      passphrase: ['must be a string'],
      payload: ['is not asked for'],
    })
    expect((await answer(file, { files })).status).toBe(201)
    const [push] = await received(file)
    const { body } = await api.retrieve(push?.url_token ?? '')
    expect(body).toMatchObject({ kind: 'file', payload: '', files: [{ filename: 'a.txt', size: 3 }] })
    expect((await answer(text, { payload: 'x' })).status).toBe(201)
  })

  test('refuses an unreadable body only after the request was found open', async () => {
    const urlToken = await made()
    const path = `${REQUESTS}/${urlToken}/answers`
    expect((await api.call(path, { method: 'POST' })).status).toBe(400)
    expect((await api.call(path, { json: {} })).status).toBe(400)
    const asText = { body: 'x', headers: { 'content-type': 'text/plain' } }
    expect((await api.call(path, asText)).status).toBe(415)
    expect((await api.call(path)).status).toBe(405)
    expect((await api.call(path, { json: { push: { payload: 'x' } }, token: 'obx_wrong' })).status).toBe(401)
    await close(urlToken)
    expect((await api.call(path, { method: 'POST' })).status).toBe(410)
  })

  test('accepts forms, and the tokens of other accounts', async () => {
    const urlToken = await made({ max_answers: 2 })
    const form = {
      body: 'push[payload]=a+b',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    }
    expect((await api.call(`${REQUESTS}/${urlToken}/answers`, form)).status).toBe(201)
    expect((await answer(urlToken, { payload: 'c' }, { token: bob })).status).toBe(201)
    expect(await received(urlToken)).toHaveLength(2)
    expect((await api.list('active', bob)).filter((push) => 'received' in push)).toEqual([])
  })
})

describe('an idempotency key', () => {
  const withKey = (key: string) => ({ headers: { 'idempotency-key': key } })

  test('makes a repeated answer harmless, even after the request is used up or closed', async () => {
    const urlToken = await made()
    const key = randomUUID()
    for (let n = 0; n < 3; n += 1)
      expect((await answer(urlToken, { payload: 'once' }, withKey(key))).text).toBe('{"received":true}')
    expect(await received(urlToken)).toHaveLength(1)
    expect((await answer(urlToken, { payload: 'other' }, withKey(key))).status).toBe(422)
    expect((await answer(urlToken, { payload: 'once' }, withKey(randomUUID()))).status).toBe(410)
  })

  test('belongs to the request, not to the address', async () => {
    const [one, other] = [await made(), await made()]
    const key = randomUUID()
    expect((await answer(one, { payload: 'a' }, withKey(key))).status).toBe(201)
    expect((await answer(other, { payload: 'b' }, withKey(key))).status).toBe(201)
    expect((await answer(one, { payload: 'a' }, { ...withKey(key), from: '198.51.100.7' })).status).toBe(201)
    expect(await received(one)).toHaveLength(1)
  })
})

describe('a passphrase', () => {
  test('is required from everyone; a missing one is not a try', async () => {
    const urlToken = await made({ passphrase: 'open sesame' })
    for (let n = 0; n < 7; n += 1) {
      const { status, body } = await answer(urlToken, { payload: 'x' })
      expect({ status, body }).toEqual({
        status: 401,
        body: {
          error: 'This request needs a passphrase.',
          message: 'This request needs a passphrase.',
          status: 'unauthorized',
        },
      })
    }
    expect((await answer(urlToken, { payload: 'x', passphrase: 'wrong' })).status).toBe(401)
    expect((await answer(urlToken, { passphrase: 'wrong' })).status).toBe(401)
    expect((await answer(urlToken, { payload: 'x', passphrase: 'open sesame' })).status).toBe(201)
    expect((await received(urlToken))[0]?.passphrase_required).toBe(false)
  })

  test('locks the request for a minute after five wrong ones, even for the right one and after a restart', async () => {
    const urlToken = await made({ passphrase: 'open sesame' })
    for (let n = 0; n < 5; n += 1)
      expect((await answer(urlToken, { payload: 'x', passphrase: `wrong ${n}` })).status).toBe(401)
    const right = { payload: 'x', passphrase: 'open sesame' }
    const limited = await answer(urlToken, right, { from: '198.51.100.9' })
    expect(limited.status).toBe(429)
    await api.restart()
    expect((await answer(urlToken, right)).status).toBe(429)
    expect((await answer(urlToken, { payload: 'x' })).status).toBe(401)
    api.clock.advance(60_000)
    expect((await answer(urlToken, right)).status).toBe(201)
  })

  test('is checked one try at a time, even if many are sent at once', async () => {
    const urlToken = await made({ passphrase: 'open sesame' })
    const tries = Array.from({ length: 30 }, (_, n) => answer(urlToken, { payload: 'x', passphrase: `${n}` }))
    const statuses = (await Promise.all(tries)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(5)
    // The others get 503, because too many are waiting.
    expect(statuses.filter((status) => ![401, 429, 503].includes(status))).toEqual([])
  })

  test('closes the request after too many wrong ones in total', async () => {
    const other = await startApi({ flags: { 'max-passphrase-attempts': '3' } })
    try {
      const token = await other.addAccount('ann@example.org')
      const { body } = await other.call<RequestBody>(REQUESTS, {
        token,
        json: { request: { passphrase: 'p' } },
      })
      const path = `${REQUESTS}/${body.url_token}/answers`
      const send = (passphrase: string) => other.call(path, { json: { push: { payload: 'x', passphrase } } })
      for (let n = 0; n < 3; n += 1) expect((await send('wrong')).status).toBe(401)
      expect((await send('p')).status).toBe(410)
    } finally {
      await other.close()
    }
  })

  test('may precede or follow the files of a form', async () => {
    const urlToken = await made({ passphrase: 'p', max_answers: 2 })
    const sendParts = (names: string[], passphrase = 'p') => {
      const body = new FormData()
      for (const name of names)
        if (name === 'files') body.append('push[files][]', new File(['content'], 'a.txt'))
        else body.append(`push[${name}]`, passphrase)
      return api.call(`${REQUESTS}/${urlToken}/answers`, { method: 'POST', body })
    }
    expect((await sendParts(['files'])).status).toBe(401)
    for (const order of [
      ['files', 'passphrase'],
      ['passphrase', 'files'],
    ]) {
      expect((await sendParts(order, 'wrong')).status).toBe(401)
      expect((await sendParts(order)).status).toBe(201)
    }
    expect((await show(urlToken)).body).toMatchObject({ answers: 2, closed: true })
  })

  test('is accepted in the header', async () => {
    const urlToken = await made({ passphrase: 'ö' })
    const headers = { 'x-push-passphrase': encodeURIComponent('ö') }
    expect((await answer(urlToken, { payload: 'x' }, { headers })).status).toBe(201)
    const unreadable = { headers: { 'x-push-passphrase': '%' } }
    expect((await answer(await made({ passphrase: 'p' }), { payload: 'x' }, unreadable)).status).toBe(400)
  })
})
