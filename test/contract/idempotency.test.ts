// Idempotency keys: a create that is repeated with its key creates nothing, and gets the first answer.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type Api, PUSHES, type PushBody, startApi, type Wire } from '../support/api.ts'
import type { Init } from '../support/instance.ts'
import { readFolder } from '../support/needles.ts'
import { BOUNDARY, multipart, type Part } from './multipart.ts'

const HOUR = 60 * 60 * 1000
const DAY = 24 * HOUR

let api: Api
let ann = ''
let bob = ''
beforeAll(async () => {
  api = await startApi()
  ann = await api.addAccount('ann@example.org')
  bob = await api.addAccount('bob@example.org')
})
afterAll(() => api.close())

const MULTIPART = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
const newKey = () => randomUUID()
const withKey = (key: string, init: Init = {}): Init => ({
  ...init,
  headers: { 'idempotency-key': key, ...init.headers },
})
const post = (key: string, push: Wire, init: Init = {}) => api.post(push, withKey(key, init))

function rows<T>(query: string): T[] {
  const database = new Database(join(api.dataDir, 'oncebox.db'), { readonly: true })
  try {
    return database.query<T, []>(query).all()
  } finally {
    database.close()
  }
}
const countPushes = () => rows('SELECT id FROM pushes').length
const answers = () =>
  rows<{ answer: Uint8Array }>('SELECT answer FROM idempotency_answers WHERE answer != zeroblob(88)')

describe('the same key with the same fields', () => {
  test.each(['anonymous', 'of an account'])('answers as the first time, %s', async (who) => {
    const init = who === 'anonymous' ? {} : { token: ann }
    const push = { payload: 's3cret', name: 'router', note: 'in the cellar', expire_after_views: 3 }
    const key = newKey()
    const before = countPushes()
    const first = await post(key, push, init)
    api.clock.advance(HOUR)
    await api.retrieve(first.body.url_token, init)
    const again = await post(key, push, init)
    expect(first.status).toBe(201)
    expect(again.status).toBe(201)
    expect(again.text).toBe(first.text)
    expect(countPushes()).toBe(before + 1)
  })

  test('answers the same after a restart, and whatever the encoding of the fields', async () => {
    const key = newKey()
    const first = await post(key, { payload: 'x', expire_after_days: 3 })
    await api.restart()
    const form = await api.call<PushBody>(PUSHES, {
      ...withKey(key, { headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
      body: 'push[payload]=x&push[expire_after_days]=3',
    })
    const body = multipart([
      { name: 'push[expire_after_days]', content: '3' },
      { name: 'push[payload]', content: 'x' },
    ])
    const parts = await api.call<PushBody>(PUSHES, withKey(key, { body, headers: MULTIPART }))
    const previous = await api.call<PushBody>('/p.json', {
      ...withKey(key),
      json: { password: { payload: 'x', expire_after_days: '3' } },
    })
    for (const { status, text } of [form, parts, previous]) {
      expect(status).toBe(201)
      expect(text).toBe(first.text)
    }
  })

  test('creates one push for concurrent requests', async () => {
    const key = newKey()
    const before = countPushes()
    const all = await Promise.all(
      Array.from({ length: 20 }, () => post(key, { passphrase: 'p', payload: 'x' })),
    )
    const created = all.filter(({ status }) => status === 201)
    expect(created.length).toBeGreaterThan(0)
    expect(all.filter(({ status }) => status !== 201 && status !== 409)).toEqual([])
    expect(all.find(({ status }) => status === 409)?.headers.get('retry-after')).toBe('1')
    expect(new Set(created.map(({ body }) => body.url_token)).size).toBe(1)
    expect(countPushes()).toBe(before + 1)
    expect((await post(key, { passphrase: 'p', payload: 'x' })).body).toEqual(created[0]!.body)
  })

  test('is kept for a day', async () => {
    const key = newKey()
    const first = await post(key, { payload: 'x' })
    api.clock.advance(DAY - 1)
    expect((await post(key, { payload: 'x' })).body).toEqual(first.body)
    api.clock.advance(1)
    const later = await post(key, { payload: 'x' })
    expect(later.status).toBe(201)
    expect(later.body.url_token).not.toBe(first.body.url_token)
    api.clock.advance(DAY)
    await api.sweep()
    expect(rows('SELECT * FROM idempotency_keys')).toEqual([])
    expect(answers()).toEqual([])
  })

  test('belongs to an account, or to an address', async () => {
    const key = newKey()
    const tokens = [{ token: ann }, { token: bob }, {}, { from: '192.0.2.2' }]
    const made = await Promise.all(tokens.map((init) => post(key, { payload: 'x' }, init)))
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    expect(new Set(made.map(({ body }) => body.url_token)).size).toBe(4)
    const again = await Promise.all(tokens.map((init) => post(key, { payload: 'x' }, init)))
    expect(again.map(({ body }) => body)).toEqual(made.map(({ body }) => body))
    // An account can use its key from another address.
    const moved = await post(key, { payload: 'x' }, { token: ann, from: '198.51.100.7' })
    expect(moved.body).toEqual(made[0]!.body)
  })
})

describe('the same key with other fields', () => {
  const FIELDS: [string, Wire, Wire][] = [
    ['payload', { payload: 'a' }, { payload: 'b' }],
    ['kind', { payload: 'a' }, { payload: 'a', kind: 'qr' }],
    ['days', { payload: 'a' }, { payload: 'a', expire_after_days: 2 }],
    ['views', { payload: 'a' }, { payload: 'a', expire_after_views: 2 }],
    ['passphrase', { payload: 'a', passphrase: 'p' }, { payload: 'a', passphrase: 'q' }],
    ['no passphrase', { payload: 'a', passphrase: 'p' }, { payload: 'a' }],
    ['name', { payload: 'a', name: 'n' }, { payload: 'a' }],
    ['note', { payload: 'a', note: 'n' }, { payload: 'a', note: 'm' }],
    ['retrieval_step', { payload: 'a' }, { payload: 'a', retrieval_step: false }],
  ]

  test.each(FIELDS)('is refused: %s', async (_name, one, other) => {
    const key = newKey()
    const first = await post(key, one)
    const before = countPushes()
    const { status, body } = await post(key, other)
    expect(status).toBe(422)
    expect(body as Wire).toEqual({
      error: 'Idempotency key was used with other fields before',
      idempotency_key: ['was used with other fields before'],
    })
    expect(countPushes()).toBe(before)
    expect((await post(key, one)).body).toEqual(first.body)
  })
})

describe('keys', () => {
  const BAD = [
    '',
    'short',
    'x'.repeat(21),
    'x'.repeat(129),
    `${'x'.repeat(30)}\u00e9`,
    `${'x'.repeat(15)}\t${'x'.repeat(15)}`,
  ]

  test.each(BAD)('of another format are refused, and nothing is created: %p', async (key) => {
    const before = countPushes()
    const { status, body } = await post(key, { payload: 'x' })
    expect(status).toBe(400)
    expect((body as Wire).error).toContain('22 to 128 printable')
    expect(countPushes()).toBe(before)
  })

  test.each([
    'x'.repeat(22),
    '~'.repeat(128),
    '"9f1c6f0e-3d0b-4c58-9a53-0c1c7b8a2f7e"',
    'with blanks in the middle of it',
  ])('of this format are accepted: %p', async (key) => {
    const first = await post(key, { payload: 'x' })
    expect(first.status).toBe(201)
    expect((await post(key, { payload: 'x' })).body).toEqual(first.body)
  })

  test('an invalid token is refused before an invalid key', async () => {
    expect((await post('short', { payload: 'x' }, { token: 'obx_wrong' })).status).toBe(401)
  })

  test('without a key every request creates a push', async () => {
    const [one, other] = [await api.create({ payload: 'x' }), await api.create({ payload: 'x' })]
    expect(one.url_token).not.toBe(other.url_token)
  })

  test('are free again after a refusal', async () => {
    const key = newKey()
    expect((await post(key, { payload: '' })).status).toBe(422)
    const malformed = await api.call(PUSHES, {
      ...withKey(key, { headers: { 'content-type': 'application/json' } }),
      body: '{',
    })
    expect(malformed.status).toBe(400)
    expect((await post(key, { payload: 'x' })).status).toBe(201)
  })
})

describe('files', () => {
  const file = (content: string, { filename = 'a.txt', type = 'text/plain' } = {}): Part => ({
    name: 'push[files][]',
    content,
    disposition: `filename="${filename}"`,
    headers: [`Content-Type: ${type}`],
  })
  const send = (key: string, parts: Part[]) =>
    api.call<PushBody>(PUSHES, withKey(key, { token: ann, body: multipart(parts), headers: MULTIPART }))
  const stored = () => readFolder(join(api.dataDir, 'files')).length

  test('are stored once, however often the request is repeated', async () => {
    const key = newKey()
    const parts = [file('one'), file('two', { filename: 'b.txt' })]
    const first = await send(key, parts)
    expect(first.status).toBe(201)
    const files = stored()
    for (let n = 0; n < 3; n += 1) {
      const again = await send(key, parts)
      expect(again.text).toBe(first.text)
    }
    expect(stored()).toBe(files)
    expect(rows('SELECT * FROM files_due')).toEqual([])
    const { body } = await api.retrieve(first.body.url_token, { token: ann })
    expect(body.files).toHaveLength(2)
  })

  const OTHERS: [string, Part[]][] = [
    ['content', [file('One'), file('two', { filename: 'b.txt' })]],
    ['name', [file('one', { filename: 'c.txt' }), file('two', { filename: 'b.txt' })]],
    ['type', [file('one', { type: 'text/csv' }), file('two', { filename: 'b.txt' })]],
    ['unknown type', [file('one', { type: 'x/y' }), file('two', { filename: 'b.txt' })]],
    ['order', [file('two', { filename: 'b.txt' }), file('one')]],
    ['number', [file('one')]],
    ['boundary between them', [file('onet'), file('wo', { filename: 'b.txt' })]],
  ]

  test.each(OTHERS)(
    'of another %s count as other fields, and leave nothing behind',
    async (_name, others) => {
      const key = newKey()
      const first = await send(key, [file('one'), file('two', { filename: 'b.txt' })])
      expect(first.status).toBe(201)
      const files = stored()
      expect((await send(key, others)).status).toBe(422)
      expect(stored()).toBe(files)
      expect(rows('SELECT * FROM files_due')).toEqual([])
    },
  )

  test('in JSON are equal to the same files in a form', async () => {
    const key = newKey()
    const first = await send(key, [file('one')])
    const push = { files: [{ filename: 'a.txt', content_type: 'text/plain', data: btoa('one') }] }
    expect((await post(key, push, { token: ann })).text).toBe(first.text)
    push.files[0]!.data = btoa('two')
    expect((await post(key, push, { token: ann })).status).toBe(422)
  })

  test('an aborted upload frees its key, and leaves nothing behind', async () => {
    const key = newKey()
    const whole = multipart([file('x'.repeat(300_000))])
    const cut = { token: ann, body: whole.subarray(0, 200_000), headers: MULTIPART }
    expect((await api.call(PUSHES, withKey(key, cut))).status).toBe(400)
    expect((await send(key, [file('x'.repeat(300_000))])).status).toBe(201)
  })

  test('a second upload does not wait for the first one', async () => {
    const key = newKey()
    const sending = new TransformStream<Uint8Array, Uint8Array>()
    const bytes = multipart([file('slow')])
    const writer = sending.writable.getWriter()
    const init = { token: ann, headers: MULTIPART, body: sending.readable }
    const first = api.call<PushBody>(PUSHES, withKey(key, init))
    // The key is in use once the server reads the body.
    await writer.write(bytes.subarray(0, 100))
    expect((await send(key, [file('slow')])).status).toBe(409)
    writer.write(bytes.subarray(100))
    writer.close()
    const { status, text } = await first
    expect(status).toBe(201)
    expect((await send(key, [file('slow')])).text).toBe(text)
  })
})

describe('when the push ends', () => {
  const ends: [string, (push: PushBody) => Promise<unknown>][] = [
    ['its last view', ({ url_token }) => api.retrieve(url_token)],
    ['a deletion', ({ url_token }) => api.expire(url_token)],
    [
      'time',
      async () => {
        api.clock.advance(HOUR)
        await api.sweep()
      },
    ],
  ]

  test.each(ends)('by %s, its answer is deleted, and a repeat creates nothing', async (_name, end) => {
    const key = newKey()
    const push = { payload: 'x', expire_after_views: 1, expire_after_duration: 0 }
    const before = answers()
    const { body } = await post(key, push)
    expect(answers()).toHaveLength(before.length + 1)
    await end(body)
    expect(answers()).toEqual(before)
    const pushes = countPushes()
    const again = await post(key, push)
    expect(again.status).toBe(409)
    expect((again.body as Wire).error).toContain('has ended')
    expect(countPushes()).toBe(pushes)
  })

  test('by time, before the expiry is recorded', async () => {
    const key = newKey()
    await post(key, { payload: 'x', expire_after_duration: 0 })
    api.clock.advance(HOUR)
    expect((await post(key, { payload: 'x', expire_after_duration: 0 })).status).toBe(409)
  })
})

test('the reference describes the header', async () => {
  const reference = await (await api.fetch('/api/v2/openapi.json')).json()
  for (const path of ['/api/v2/pushes', '/p.json', '/f.json', '/r.json']) {
    const { parameters, responses } = reference.paths[path].post
    expect(parameters).toContainEqual(expect.objectContaining({ name: 'Idempotency-Key', in: 'header' }))
    expect(responses['409']).toBeDefined()
  }
})
