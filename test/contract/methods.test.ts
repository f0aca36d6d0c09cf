import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Api, PUSHES, startApi } from '../support/api.ts'
import { runScenarios } from '../support/scenarios.ts'

describe('HEAD of a push has no effects of a retrieval', () => {
  runScenarios([
    { name: 'of a live push', ask: 'HEAD /api/v2/pushes/{push}', status: 200 },
    { name: 'with .json', ask: 'HEAD /api/v2/pushes/{push}.json', status: 200 },
    {
      name: 'of one with a passphrase, which it does not ask for',
      push: { passphrase: 'sesame' },
      ask: 'HEAD /api/v2/pushes/{push}',
      status: 200,
    },
    {
      name: 'of one with a passphrase, which is not tried either',
      push: { passphrase: 'sesame' },
      ask: 'HEAD /api/v2/pushes/{push}?passphrase=wrong',
      status: 200,
    },
    {
      name: 'of an expired push',
      before: ({ api, push, tokens }) => api.expire(push.url_token, { token: tokens.owner! }),
      ask: 'HEAD /api/v2/pushes/{push}',
      status: 200,
    },
    { name: 'of its preview', ask: 'HEAD /api/v2/pushes/{push}/preview', status: 200 },
    { name: 'of no push', ask: 'HEAD /api/v2/pushes/0123456789abcdefghjkmnpqrs', status: 404 },
    {
      name: 'with an invalid token',
      ask: 'HEAD /api/v2/pushes/{push}',
      init: { headers: { 'x-user-token': 'wrong' } },
      status: 401,
    },
    { name: 'of the active pushes without a token', ask: 'HEAD /api/v2/pushes/active', status: 401 },
    { name: 'of the active pushes', ask: 'HEAD /api/v2/pushes/active', as: 'owner', status: 200 },
    { name: 'of an audit log', ask: 'HEAD /api/v2/pushes/{push}/audit', as: 'owner', status: 200 },
    {
      name: 'of somebody else’s audit log',
      ask: 'HEAD /api/v2/pushes/{push}/audit',
      as: 'other',
      status: 403,
    },
    { name: 'of the version', ask: 'HEAD /api/v2/version', status: 200 },
    {
      name: 'while GET afterwards still is the first view',
      before: ({ api, push }) => api.call(`${PUSHES}/${push.url_token}`, { method: 'HEAD' }),
      ask: 'GET /api/v2/pushes/{push}',
      status: 200,
      body: { views_remaining: 4 },
      audit: ['view'],
    },
  ])
})

describe('methods', () => {
  let api: Api
  let urlToken: string

  beforeAll(async () => {
    api = await startApi()
    urlToken = (await api.create()).url_token
  })

  afterAll(() => api.close())

  test('HEAD answers with the headers of a preview', async () => {
    const head = await api.call(`${PUSHES}/${urlToken}`, { method: 'HEAD' })
    const preview = await api.call(`${PUSHES}/${urlToken}/preview`)
    const told = ({ headers }: typeof head) =>
      [...headers].filter(([name]) => name !== 'x-request-id' && name !== 'content-length')
    expect(told(head)).toEqual(told(preview))
  })

  const paths: [string, string[]][] = [
    ['/api/v2/version', ['GET', 'HEAD']],
    ['/api/v2/pushes', ['POST']],
    ['/api/v2/pushes.json', ['POST']],
    ['/api/v2/pushes/active', ['GET', 'HEAD']],
    ['/api/v2/pushes/expired', ['GET', 'HEAD']],
    ['/api/v2/pushes/{push}', ['DELETE', 'GET', 'HEAD', 'PATCH']],
    ['/api/v2/pushes/{push}/preview', ['GET', 'HEAD']],
    ['/api/v2/pushes/{push}/audit', ['GET', 'HEAD']],
    ['/api/v2/openapi.json', ['GET', 'HEAD']],
    ['/api/v2/docs', ['GET', 'HEAD']],
  ]
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
  const wrong = paths.flatMap(([path, known]) =>
    methods.filter((method) => !known.includes(method)).map((method) => ({ method, path, known })),
  )

  test.each(wrong)('$method $path answers 405 and leaves nothing behind', async ({ method, path, known }) => {
    const before = api.entries()
    const { status, headers } = await api.call(path.replace('{push}', urlToken), { method })
    expect(status).toBe(405)
    expect(headers.get('allow')?.split(', ').sort()).toEqual(known)
    expect(api.entries()).toEqual(before)
  })
})

describe('unknown paths are 404 before tokens are checked', () => {
  const unknown = [
    '/api/v2/accounts',
    '/api/v2/accounts.json',
    '/api/v2/requests',
    '/api/v2/accounts/1/members',
    '/api/v2/pushes/{push}/notify_emails',
    '/api/v2/pushes/{push}/preview/more',
    '/api/v2/nothing',
    '/api/v2',
    '/api/v3/version',
    '/api/nothing.json',
  ]
  for (const access of ['true', 'false']) {
    describe(`with --anonymous-access ${access}`, () => {
      let api: Api
      let owner: string
      let urlToken: string

      beforeAll(async () => {
        api = await startApi({ flags: { 'anonymous-access': access } })
        owner = await api.addAccount('owner@example.org')
        urlToken = (await api.create({}, { token: owner })).url_token
      })

      afterAll(() => api.close())

      for (const path of unknown) {
        test(path, async () => {
          const before = api.entries()
          const bad = { token: 'obx_wrong' }
          for (const init of [
            {},
            bad,
            { token: owner },
            { ...bad, json: { push: {} } },
            { method: 'DELETE' },
          ]) {
            const { status, body } = await api.call(path.replace('{push}', urlToken), init)
            expect([status, body]).toEqual([404, { error: 'not-found' }])
          }
          expect(api.entries()).toEqual(before)
        })
      }
    })
  }
})

describe('a path that is not percent-encoded UTF-8 is unknown, before tokens are checked', () => {
  let api: Api

  beforeAll(async () => {
    api = await startApi({ flags: { 'anonymous-access': 'false' } })
  })

  afterAll(() => api.close())

  const bad = ['%', '%f', '%ff', '%zz', '%C3', '%ED%A0%80', 'a%', '%C0%AF']
  const places = ['/p/', '/welcome/', '/pushes/', '/f/', '/de/p/', '/assets/', '/']
  const endpoints = ['/api/v2/pushes/', '/d/']

  test.each(places.flatMap((place) => bad.map((end) => place + end)))('the page %s', async (path) => {
    for (const init of [{}, { method: 'HEAD' }, { method: 'POST', body: 'a=b' }]) {
      const response = await api.fetch(path, init)
      expect([response.status, response.headers.get('content-type')]).toEqual([
        404,
        'text/html; charset=utf-8',
      ])
    }
    expect(api.log.filter((line) => line.includes('failed'))).toEqual([])
  })

  test.each([
    ...endpoints.flatMap((place) => bad.map((end) => place + end)),
    '/p/%.json',
    '/en/r/%ff/audit.json',
  ])('the endpoint %s', async (path) => {
    for (const init of [{}, { token: 'obx_wrong' }, { method: 'DELETE' }]) {
      const response = await api.fetch(path, init)
      expect([response.status, await response.json()]).toEqual([404, { error: 'not-found' }])
    }
  })
})
