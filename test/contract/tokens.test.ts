import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Api, PUSHES, type PushBody, startApi } from '../support/api.ts'
import type { Init } from '../support/instance.ts'

let api: Api
let owner: string
let other: string
let push: PushBody

beforeAll(async () => {
  api = await startApi()
  owner = await api.addAccount('owner@example.org')
  other = await api.addAccount('other@example.org')
  push = await api.create({ expire_after_views: 100 }, { token: owner })
})

afterAll(() => api.close())

/** 200 for the owner, 403 for the other account, 401 without a valid token. */
const auditStatus = async (headers: Record<string, string>) =>
  (await api.call(`${PUSHES}/${push.url_token}/audit`, { headers })).status

const basic = (credentials: string) => `Basic ${Buffer.from(credentials).toString('base64')}`

describe('a token', () => {
  test.each<[string, () => Record<string, string>, number]>([
    ['as Bearer', () => ({ authorization: `Bearer ${owner}` }), 200],
    ['as bearer in lower case', () => ({ authorization: `bearer ${owner}` }), 200],
    ['as Bearer with more spaces', () => ({ authorization: `Bearer   ${owner} ` }), 200],
    ['as X-User-Token', () => ({ 'x-user-token': owner }), 200],
    [
      'as X-User-Token with its address',
      () => ({ 'x-user-token': owner, 'x-user-email': 'owner@example.org' }),
      200,
    ],
    [
      'as X-User-Token with another address, which is not compared',
      () => ({ 'x-user-token': owner, 'x-user-email': 'nobody@example.org' }),
      200,
    ],
    [
      'beside Basic credentials of a proxy',
      () => ({ 'x-user-token': owner, authorization: 'Basic YTpi' }),
      200,
    ],
    ['beside a Digest', () => ({ 'x-user-token': owner, authorization: 'Digest username="a"' }), 200],
    ['of another account', () => ({ authorization: `Bearer ${other}` }), 403],
    ['missing', () => ({}), 401],
    ['missing beside Basic', () => ({ authorization: 'Basic YTpi' }), 401],
    ['as an address alone', () => ({ 'x-user-email': 'owner@example.org' }), 401],
    ['that is wrong', () => ({ authorization: 'Bearer obx_wrong' }), 401],
    ['that is empty', () => ({ authorization: 'Bearer' }), 401],
    ['in upper case', () => ({ authorization: `Bearer ${owner.toUpperCase()}` }), 401],
    ['that is truncated', () => ({ authorization: `Bearer ${owner.slice(0, -1)}` }), 401],
    ['with an extra character', () => ({ authorization: `Bearer ${owner}0` }), 401],
    ['without its scheme', () => ({ authorization: owner }), 200],
    ['as Token', () => ({ authorization: `Token ${owner}` }), 200],
    ['as token=', () => ({ authorization: `Token token=${owner}` }), 200],
    ['as token= in quotes', () => ({ authorization: `token TOKEN="${owner}", nonce="x"` }), 200],
    ['as token= behind others', () => ({ authorization: `Token email="a@b.c", token=${owner}` }), 200],
    ['as the user of Basic', () => ({ authorization: basic(`${owner}:`) }), 200],
    ['as the password of Basic', () => ({ authorization: basic(`:${owner}`) }), 200],
    ['as the password of an address', () => ({ authorization: basic(`owner@example.org:${owner}`) }), 200],
    ['as the user of any password', () => ({ authorization: basic(`${owner}:x-oauth-basic`) }), 200],
    ['as the only word of Basic', () => ({ authorization: basic(owner) }), 200],
    ['as the only word of Basic and a line break', () => ({ authorization: basic(`${owner}\n`) }), 200],
    ['as unencoded Basic', () => ({ authorization: `basic ${owner}` }), 200],
    ['without its padding', () => ({ authorization: basic(`a:${owner}`).replaceAll('=', '') }), 200],
    ['of another account in Basic', () => ({ authorization: basic(`a:${other}`) }), 403],
    ['that is wrong, without a scheme', () => ({ authorization: 'obx_wrong' }), 401],
    ['that is wrong, in Basic', () => ({ authorization: basic('a:obx_wrong'), 'x-user-token': owner }), 401],
    ['that is wrong, as the user of Basic', () => ({ authorization: basic('obx_wrong:') }), 401],
    ['that is wrong, beside a right one', () => ({ authorization: 'obx_wrong', 'x-user-token': owner }), 401],
    ['as Token that is wrong', () => ({ authorization: 'Token nonsense', 'x-user-token': owner }), 401],
    ['as Token that is empty', () => ({ authorization: 'Token', 'x-user-token': owner }), 401],
    ['as token= that is empty', () => ({ authorization: 'Token token=""', 'x-user-token': owner }), 401],
    ['in an unknown scheme', () => ({ authorization: `ApiKey ${owner}`, 'x-user-token': owner }), 401],
    ['beside a Basic in one header', () => ({ authorization: `Basic YTpi, Bearer ${owner}` }), 401],
    ['beside a proxy’s Basic alone', () => ({ authorization: basic('proxy:secret') }), 401],
    ['in X-User-Token beside a word', () => ({ authorization: 'whatever', 'x-user-token': owner }), 200],
    [
      'in X-User-Token beside Negotiate',
      () => ({ authorization: 'Negotiate YII=', 'x-user-token': owner }),
      200,
    ],
    ['in X-User-Token beside a broken Basic', () => ({ authorization: 'Basic', 'x-user-token': owner }), 200],
    [
      'in X-User-Token beside an empty Authorization',
      () => ({ authorization: '', 'x-user-token': owner }),
      200,
    ],
    [
      'in Basic takes precedence over X-User-Token',
      () => ({ authorization: basic(`${other}:`), 'x-user-token': owner }),
      403,
    ],
    ['is refused if wrong in X-User-Token', () => ({ 'x-user-token': 'wrong' }), 401],
    [
      'in Authorization takes precedence over X-User-Token',
      () => ({ authorization: `Bearer ${other}`, 'x-user-token': owner }),
      403,
    ],
    [
      'is refused if wrong in Authorization, even with a right X-User-Token',
      () => ({ authorization: 'Bearer wrong', 'x-user-token': owner }),
      401,
    ],
    [
      'is accepted if right in Authorization, even with a wrong X-User-Token',
      () => ({ authorization: `Bearer ${owner}`, 'x-user-token': 'wrong' }),
      200,
    ],
  ])('%s', async (_, headers, status) => {
    expect(await auditStatus(headers())).toBe(status)
  })

  test('in the query is ignored', async () => {
    const { status } = await api.call(`${PUSHES}/active?token=${owner}&user_token=${owner}`)
    expect(status).toBe(401)
  })
})

describe('creating', () => {
  const create = async (authorization: string) => {
    const before = api.entries().length
    const { status, body } = await api.post({ payload: 'a', name: 'kept' }, { headers: { authorization } })
    return {
      status,
      isOwned: status === 201 && (await isListed(body.url_token)),
      entries: api.entries().length - before,
    }
  }
  const isListed = async (urlToken: string) =>
    (await api.list('active', owner)).some(({ url_token }) => url_token === urlToken)

  test.each<[string, () => string]>([
    ['the token alone', () => owner],
    ['Token', () => `Token ${owner}`],
    ['Token token=', () => `Token token=${owner}`],
    ['Basic', () => basic(`owner@example.org:${owner}`)],
  ])('with %s makes a push of the account', async (_, authorization) => {
    expect(await create(authorization())).toEqual({ status: 201, isOwned: true, entries: 1 })
  })

  test.each<[string, () => string]>([
    ['a truncated token', () => owner.slice(0, -1)],
    ['the token in upper case', () => owner.toUpperCase()],
    ['an unknown token in Basic', () => basic('obx_0123456789:')],
    ['an unknown scheme', () => `Api-Key ${owner}`],
    ['an unknown scheme with a parameter', () => `Custom key="${owner}"`],
  ])('with %s is refused, instead of making an anonymous push', async (_, authorization) => {
    expect(await create(authorization())).toEqual({ status: 401, isOwned: false, entries: 0 })
  })

  test.each(['Basic YTpi', 'Negotiate YII=', 'Digest username="ann"', 'Basic !!!', 'Basic'])(
    'with %s, which holds no API token, creates an anonymous push',
    async (authorization) => {
      expect(await create(authorization)).toEqual({ status: 201, isOwned: false, entries: 1 })
    },
  )
})

const invalid: Init[] = [
  { token: 'obx_wrong' },
  { headers: { 'x-user-token': 'wrong' } },
  { headers: { authorization: 'obx_wrong' } },
  { headers: { authorization: 'Token wrong' } },
  { headers: { authorization: basic('ann@example.org:obx_wrong') } },
]

describe('an invalid token is 401 before anything is read or counted', () => {
  test.each(['GET', 'HEAD', 'DELETE'])(
    'for %s on a push that viewers may retrieve and delete',
    async (method) => {
      const { url_token } = await api.create({ expire_after_views: 1 })
      const before = api.entries()
      for (const init of invalid) {
        expect((await api.call(`${PUSHES}/${url_token}`, { ...init, method })).status).toBe(401)
      }
      expect(api.entries()).toEqual(before)
      expect((await api.retrieve(url_token)).body.payload).toBe('correct horse')
    },
  )

  test.each(['', '/preview', '/audit'])('for GET on %s of a push', async (rest) => {
    for (const init of invalid) {
      const { status, body } = await api.call(`${PUSHES}/${push.url_token}${rest}`, init)
      expect([status, Object.keys(body)]).toEqual([401, ['error']])
    }
  })

  test('for creating', async () => {
    const before = api.entries()
    for (const init of invalid) expect((await api.post({ payload: 'a' }, init)).status).toBe(401)
    expect(api.entries()).toEqual(before)
  })

  test('for a wrong passphrase, which is not counted as a try', async () => {
    const { url_token } = await api.create({ passphrase: 'sesame' })
    for (let tries = 0; tries < 6; tries += 1) {
      expect((await api.retrieve(`${url_token}?passphrase=wrong`, { token: 'obx_wrong' })).status).toBe(401)
    }
    expect((await api.retrieve(`${url_token}?passphrase=sesame`)).status).toBe(200)
  })

  test('but not for the version, which is public', async () => {
    for (const init of invalid) expect((await api.call('/api/v2/version', init)).status).toBe(200)
  })
})

describe('an account', () => {
  test('that is disabled loses its tokens at once, until it is enabled again', async () => {
    const token = await api.addAccount('third@example.org')
    const { url_token } = await api.create({}, { token })
    const statuses = async () => [
      (await api.call(`${PUSHES}/active`, { token })).status,
      (await api.retrieve(url_token, { token })).status,
      (await api.post({ payload: 'a' }, { token })).status,
    ]
    await api.accounts().disableAccount('third@example.org')
    expect(await statuses()).toEqual([401, 401, 401])
    expect((await api.retrieve(url_token)).body.payload).toBe('correct horse')
    await api.accounts().enableAccount('third@example.org')
    expect(await statuses()).toEqual([200, 200, 201])
  })

  test('may have several tokens, which are revoked one by one', async () => {
    const email = 'owner@example.org'
    const { apiToken, name } = await api.apiTokens().createApiToken({ email, name: 'laptop' })
    expect((await api.audit(push.url_token, apiToken)).length).toBeGreaterThan(0)
    await api.apiTokens().revokeApiToken({ email, nameOrPrefix: name })
    expect(await auditStatus({ authorization: `Bearer ${apiToken}` })).toBe(401)
    expect(await auditStatus({ authorization: `Bearer ${owner}` })).toBe(200)
  })

  test('keeps its tokens across a restart', async () => {
    await api.restart()
    expect(await auditStatus({ authorization: `Bearer ${owner}` })).toBe(200)
  })
})

describe('with anonymous access off', () => {
  let closed: Api
  let token: string
  let path: string

  beforeAll(async () => {
    closed = await startApi({ flags: { 'anonymous-access': 'false' } })
    token = await closed.addAccount('owner@example.org')
    path = `${PUSHES}/${(await closed.create({ expire_after_views: 1 }, { token })).url_token}`
  })

  afterAll(() => closed.close())

  test.each<[string, string]>([
    ['GET', ''],
    ['HEAD', ''],
    ['GET', '/preview'],
    ['GET', '/audit'],
    ['DELETE', ''],
  ])('%s on a push%s requires a token', async (method, rest) => {
    const before = closed.entries()
    expect((await closed.call(`${path}${rest}`, { method })).status).toBe(401)
    expect(closed.entries()).toEqual(before)
  })

  test('creating and listing require a token', async () => {
    expect((await closed.post({ payload: 'a' })).status).toBe(401)
    expect((await closed.call(`${PUSHES}/active`)).status).toBe(401)
    expect((await closed.call(`${PUSHES}/expired`)).status).toBe(401)
  })

  test('the version and the pages of links stay public, and every account may retrieve', async () => {
    const version = await closed.call<{ features: object }>('/api/v2/version')
    expect([version.status, version.body.features]).toEqual([
      200,
      expect.objectContaining({ anonymous_access: false }),
    ])
    expect((await closed.call(path.replace(PUSHES, '/p'))).status).toBe(200)
    const other = await closed.addAccount('other@example.org')
    expect((await closed.call<PushBody>(path, { token: other })).body.payload).toBe('correct horse')
  })
})
