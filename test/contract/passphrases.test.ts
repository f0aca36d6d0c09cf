import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { availableParallelism } from 'node:os'
import { ARGON2_COST } from '../../src/crypto/passphrase.ts'
import { type Api, type PushBody, startApi, type Wire } from '../support/api.ts'

let api: Api
let owner: string
let push: PushBody

beforeAll(async () => {
  api = await startApi()
  owner = await api.addAccount('owner@example.org')
})

beforeEach(async () => {
  push = await api.create({ passphrase: 'sesame' }, { token: owner })
})

afterAll(() => api.close())

const kinds = async ({ url_token }: PushBody = push) =>
  (await api.audit(url_token, owner)).map(({ kind }) => kind)
const tryWith = (passphrase: string, { url_token }: PushBody = push, from = '192.0.2.1') =>
  api.retrieve(url_token, { headers: { 'x-push-passphrase': encodeURIComponent(passphrase) }, from })

async function tryWrong(times: number, of: PushBody = push): Promise<void> {
  for (let tried = 0; tried < times; tried += 1) expect((await tryWith('wrong', of)).status).toBe(401)
}

describe('a passphrase', () => {
  test('that is missing is answered with 401 and audited, and counts no view', async () => {
    const { status, body } = await api.retrieve(push.url_token)
    const { message, error } = body as unknown as Wire
    expect([status, body as unknown]).toEqual([401, { error, message, status: 'unauthorized' }])
    expect([error, message]).toEqual([expect.stringMatching(/\S/), expect.stringMatching(/\S/)])
    expect(await kinds()).toEqual(['creation', 'failed_passphrase'])
    expect((await tryWith('sesame')).body.views_remaining).toBe(4)
  })

  test('that is wrong is answered with 401 and audited, and counts no view', async () => {
    const { status, body } = await tryWith('wrong')
    expect([status, Object.keys(body).sort()]).toEqual([401, ['error', 'message', 'status']])
    expect(await kinds()).toEqual(['creation', 'failed_passphrase'])
    expect((await tryWith('sesame')).body.views_remaining).toBe(4)
  })

  test('is required of the owner too', async () => {
    expect((await api.retrieve(push.url_token, { token: owner })).status).toBe(401)
    const { body } = await api.retrieve(`${push.url_token}?passphrase=sesame`, { token: owner })
    expect(body.payload).toBe('correct horse')
    expect(await kinds()).toEqual(['creation', 'failed_passphrase', 'view'])
  })

  test('is not required if none was set, and ignored if sent', async () => {
    const { url_token } = await api.create()
    expect((await api.retrieve(`${url_token}?passphrase=whatever`)).body.payload).toBe('correct horse')
  })

  test('cannot be set to an empty text', async () => {
    const before = (await kinds()).length
    expect((await api.retrieve(`${push.url_token}?passphrase=`)).status).toBe(401)
    expect((await kinds()).length).toBe(before + 1)
    for (let tries = 0; tries < 6; tries += 1) {
      expect((await api.retrieve(`${push.url_token}?passphrase=`)).status).toBe(401)
    }
  })

  test('is not required for an expired push', async () => {
    await api.expire(push.url_token, { token: owner })
    const { status, body } = await api.retrieve(push.url_token)
    expect([status, body.expired, body.payload]).toEqual([200, true, null])
    expect(await kinds()).toEqual(['creation', 'expire', 'failed_view'])
  })

  test.each([
    'a b',
    'a+b',
    '100%',
    '%41',
    ' ',
    'grüezi 🐴 שלום',
    'a&b=c#d?e/f',
    'line\nline\u0000',
    'é'.repeat(512),
  ])('%j opens the push in the header, percent-encoded, and in the query', async (passphrase) => {
    const { url_token } = await api.create({ passphrase })
    const encoded = encodeURIComponent(passphrase)
    const byHeader = await api.retrieve(url_token, { headers: { 'x-push-passphrase': encoded } })
    const byQuery = await api.retrieve(`${url_token}?passphrase=${encoded}`)
    const byForm = await api.retrieve(`${url_token}?${new URLSearchParams({ passphrase })}`)
    const payloads = [byHeader, byQuery, byForm].map(({ body }) => body.payload)
    expect(payloads).toEqual(['correct horse', 'correct horse', 'correct horse'])
  })

  test('keeps a + in the header as a plus sign', async () => {
    const plus = await api.create({ passphrase: 'a+b' })
    const headers = { 'x-push-passphrase': 'a+b' }
    expect((await api.retrieve(plus.url_token, { headers })).body.payload).toBe('correct horse')
  })

  test.each(['SESAME', ' sesame', 'sesame ', 'sesam', 'sesames'])(
    'is compared exactly: %j is wrong',
    async (passphrase) => {
      expect((await tryWith(passphrase)).status).toBe(401)
    },
  )

  test('that is not percent-encoded UTF-8 in the header is refused as malformed, and not counted as a try', async () => {
    for (const value of ['%', '%zz', '%ff', '100%']) {
      const headers = { 'x-push-passphrase': value }
      expect((await api.retrieve(push.url_token, { headers })).status).toBe(400)
    }
    expect(await kinds()).toEqual(['creation'])
  })
})

describe('after the fifth wrong passphrase within a minute', () => {
  test('every request with a passphrase gets 429, from any address, even with the right one', async () => {
    await tryWrong(5)
    for (const [passphrase, from] of [
      ['wrong', '192.0.2.1'],
      ['sesame', '192.0.2.1'],
      ['sesame', '198.51.100.7'],
      ['sesame', '127.0.0.1'],
    ]) {
      const { status, headers, body } = await tryWith(passphrase!, push, from!)
      expect([status, headers.get('retry-after'), Object.keys(body)]).toEqual([429, '60', ['error']])
    }
    expect(await kinds()).toEqual(['creation', ...Array(5).fill('failed_passphrase')])
  })

  test('a request without a passphrase still gets 401', async () => {
    await tryWrong(5)
    expect((await api.retrieve(push.url_token)).status).toBe(401)
    expect((await kinds()).length).toBe(7)
  })

  test('another push is not affected', async () => {
    await tryWrong(5)
    const another = await api.create({ passphrase: 'sesame' })
    expect((await tryWith('sesame', another)).body.payload).toBe('correct horse')
  })

  test('a restart does not reset the limit', async () => {
    await tryWrong(4)
    await api.restart()
    await tryWrong(1)
    await api.restart()
    expect((await tryWith('sesame')).status).toBe(429)
  })

  test('the limit ends after the minute, and Retry-After is the time left', async () => {
    await tryWrong(5)
    api.clock.advance(59_001)
    const { status, headers } = await tryWith('sesame')
    expect([status, headers.get('retry-after')]).toEqual([429, '1'])
    api.clock.advance(999)
    expect((await tryWith('sesame')).body.payload).toBe('correct horse')
  })

  test('five more tries are possible in the next minute', async () => {
    await tryWrong(5)
    api.clock.advance(60_000)
    await tryWrong(4)
    expect((await tryWith('sesame')).status).toBe(200)
    await tryWrong(1)
    expect((await tryWith('sesame')).status).toBe(429)
  })

  test('missing passphrases are not among the five', async () => {
    for (let asked = 0; asked < 8; asked += 1) await api.retrieve(push.url_token)
    await tryWrong(4)
    expect((await tryWith('sesame')).status).toBe(200)
  })

  test('an expired push still answers as expired', async () => {
    await tryWrong(5)
    await api.expire(push.url_token, { token: owner })
    expect((await tryWith('sesame')).body).toMatchObject({ expired: true, payload: null })
  })

  test('the limit is exact when all tries are sent at once', async () => {
    const tries = await Promise.all(Array.from({ length: 40 }, () => tryWith('wrong')))
    const statuses = tries.map(({ status }) => status)
    expect(statuses.filter((status) => status === 401).length).toBe(5)
    expect(statuses.filter((status) => ![401, 429, 503].includes(status))).toEqual([])
    expect(statuses).toContain(503)
    expect(await kinds()).toEqual(['creation', ...Array(5).fill('failed_passphrase')])
  })
})

describe('a flood of passphrases from one address', () => {
  let slow: Api
  beforeAll(async () => {
    slow = await startApi({ argon2Cost: ARGON2_COST })
  })
  afterAll(() => slow.close())

  const protect = async () => {
    const { url_token } = await slow.create({ passphrase: 'sesame' })
    return () => slow.retrieve(url_token, { headers: { 'x-push-passphrase': 'sesame' } })
  }
  const flood = (from: string, count = 40) =>
    Array.from({ length: count }, () => slow.post({ payload: 'flood', passphrase: 'flood' }, { from }))
  const statusesOf = async (answers: ReturnType<typeof flood>) =>
    (await Promise.all(answers)).map(({ status }) => status)

  test('gets 503 with Retry-After beyond its share, and a recipient elsewhere is served', async () => {
    const done: (string | null)[] = []
    const receive = await protect()
    const creations = flood('198.51.100.1').map(async (creation) => {
      const { status, headers } = await creation
      if (status === 201) done.push('flood')
      return [status, headers.get('retry-after')]
    })
    expect((await receive()).status).toBe(200)
    done.push('receiver')
    const answers = await Promise.all(creations)
    expect(answers).toContainEqual([503, '2'])
    expect(done.length).toBeGreaterThan(6)
    // The running checks and the twelve queued ones come first.
    expect(done.indexOf('receiver')).toBeLessThan(13 + availableParallelism())
  })

  test('counts a /64 of IPv6 as one address, and limits loopback too', async () => {
    const receive = await protect()
    const hosts = Array.from({ length: 20 }, (_, host) => `2001:db8::${host + 1}`)
    const network = await statusesOf(hosts.flatMap((from) => flood(from, 1)))
    expect(network).toContain(503)
    const local = statusesOf(flood('127.0.0.1'))
    expect((await receive()).status).toBe(200)
    expect(await local).toContain(503)
  })
})
