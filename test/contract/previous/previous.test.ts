// The previous version of the API: other paths and wrappers, the same pushes.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Api, startApi } from '../../support/api.ts'
import { runScenarios, type Scenario } from '../../support/scenarios.ts'
import { LISTED, RETRIEVED } from '../members.ts'
import { ask, link, NO_PUSH, payload } from './previous.ts'

describe.each(['p', 'f', 'r'])('/%s answers for pushes of every kind', (family) => {
  runScenarios([
    ask(`GET /${family}/{push}.json`, {
      members: RETRIEVED,
      body: { payload, kind: 'text' },
      audit: ['view'],
    }),
    ask(`GET //${family}//{push}.json/`, { members: RETRIEVED, audit: ['view'] }),
    ask(`GET /en/${family}/{push}.json`, { members: RETRIEVED, audit: ['view'] }),
    ask(`HEAD /${family}/{push}.json`),
    ask(`GET /${family}/{push}/preview.json`, { members: ['expired', 'passphrase_required', 'url'] }),
    ask(`GET /${family}/{push}/audit.json`, { members: ['views'] }),
    ask(`GET /${family}/{push}/audit.json?page=2`, { exactly: { views: [] } }),
    ask(`GET /${family}/{push}/audit.json?page=0`, { status: 400 }),
    ask(`DELETE /${family}/{push}.json`, { body: { expired: true, deleted: true }, audit: ['expire'] }),
    ask(`GET /${family}/active.json`),
    ask(`GET /${family}/expired.json?page=1`),
    ask(`GET /${family}/active.json?page=201`, { status: 400 }),
    ask(`GET /${family}/${NO_PUSH}.json`, { status: 404, exactly: { error: 'not-found' } }),
    ask(`GET /${family}/{push}/audit.json`, {
      name: `the log at /${family} is its owner’s`,
      as: 'other',
      status: 403,
    }),
    ask(`GET /${family}/{push}/audit.json`, {
      name: `the log at /${family} needs a token`,
      as: 'visitor',
      status: 401,
    }),
    ask(`GET /${family}/active.json`, {
      name: `lists at /${family} need a token`,
      as: 'visitor',
      status: 401,
    }),
    ask(`GET /${family}.json`, { status: 405, headers: { allow: 'POST' } }),
    ask(`PUT /${family}/{push}.json`, { status: 405, headers: { allow: 'GET, HEAD, DELETE' } }),
    ask(`GET /${family}/{push}/more.json`, { status: 404, exactly: { error: 'not-found' } }),
    ask(`GET /${family}/{push}.json`, {
      name: `a passphrase at /${family}`,
      push: { passphrase: 'sesame' },
      status: 401,
      exactly: {
        error: 'This push has a passphrase that was incorrect or not provided.',
        message: 'This push needs a passphrase.',
        status: 'unauthorized',
      },
      audit: ['failed_passphrase'],
    }),
    ask(`GET /${family}/{push}.json?passphrase=wrong`, {
      push: { passphrase: 'sesame' },
      status: 401,
      exactly: {
        error: 'This push has a passphrase that was incorrect or not provided.',
        message: 'The passphrase is wrong.',
        status: 'unauthorized',
      },
      audit: ['failed_passphrase'],
    }),
    ask(`GET /${family}/{push}.json?passphrase=sesame`, {
      push: { passphrase: 'sesame' },
      body: { payload },
      audit: ['view'],
    }),
    ask(`GET /${family}/{push}.json`, {
      name: `a body on GET at /${family} is ignored`,
      init: { headers: { 'content-type': 'application/json' } },
      members: RETRIEVED,
      audit: ['view'],
    }),
  ])
})

describe('the lists under the path of the earlier dashboard', () => {
  const lists = (path: string, rest: Partial<Scenario> = {}) => ask(`GET ${path}`, rest)
  runScenarios([
    lists('/en/d/active.json'),
    lists('/pt-BR/d/expired.json?page=2', { exactly: [] }),
    lists('//de//d//active.json/'),
    lists('/en/d/active.json?page=0', { status: 400 }),
    lists('/en/d/active.json', { name: 'need a token', as: 'visitor', status: 401 }),
    lists('/en/d/active.json', {
      name: 'take no wrong token',
      as: 'visitor',
      init: {
        headers: { authorization: `Basic ${Buffer.from('owner@example.org:obx_wrong').toString('base64')}` },
      },
      status: 401,
    }),
    ask('POST /en/d/active.json', { status: 405, headers: { allow: 'GET, HEAD' } }),
    ask('HEAD /en/d/active.json'),
    lists('/en/d/others.json', { status: 404, exactly: { error: 'not-found' } }),
    lists('/en/d/active.json/more.json', { status: 404, exactly: { error: 'not-found' } }),
    lists('/english/d/active.json', { status: 404 }),
    lists('/en/d/active', { status: 404 }),
  ])
})

describe('features that are off', () => {
  runScenarios(
    [
      ask('POST /f.json', {
        init: { json: { file_push: {} } },
        status: 404,
        exactly: { error: 'not-found' },
      }),
      ask('GET /f/{push}.json', { status: 404, exactly: { error: 'not-found' } }),
      ask('GET /f/active.json', { status: 404 }),
      ask('POST /r.json', { init: { json: { url: { payload: link } } }, status: 404 }),
      ask('GET /r/{push}/preview.json', { status: 404 }),
      ask('GET /r/{push}.json', {
        name: 'before any look at tokens',
        init: { headers: { 'x-user-token': 'wrong' } },
        as: 'visitor',
        status: 404,
      }),
      ask('GET /p/{push}.json', { body: { payload }, audit: ['view'] }),
    ],
    { flags: { files: 'false', 'url-pushes': 'false' } },
  )
})

describe('about the instance', () => {
  const version = { application_version: expect.any(String), api_version: '1.5', edition: 'oss' }
  runScenarios([
    ask('GET /api/v1/version', { as: 'visitor', exactly: version }),
    ask('GET /api/v1/version.json', { as: 'visitor', exactly: version }),
    ask('GET /api/v1/version.json', {
      name: 'the version whatever the host',
      as: 'visitor',
      init: { headers: { host: 'rebound.example.net' } },
      exactly: version,
    }),
    ask('GET /api/v1/accounts', { status: 404, exactly: { error: 'not-found' } }),
    ask('GET /api/v1/accounts.json', { as: 'visitor', status: 404, exactly: { error: 'not-found' } }),
    ask('GET /.json/p/{push}', { status: 404, exactly: { error: 'not-found' } }),
  ])
})

describe('with anonymous access off', () => {
  runScenarios(
    [
      ask('POST /p.json', { as: 'visitor', init: { json: { password: { payload } } }, status: 401 }),
      ask('GET /p/{push}.json', { as: 'visitor', status: 401 }),
      ask('GET /api/v1/version', { as: 'visitor' }),
      ask('GET /f/{push}', { as: 'visitor', status: 301 }),
    ],
    { flags: { 'anonymous-access': 'false' } },
  )
})

describe('older links lead to the page of the push', () => {
  const leads = (path: string, to: string): Scenario => ({
    ...ask(`GET ${path}`, { as: 'visitor', status: 301 }),
    headers: { location: to, 'cache-control': 'no-store' },
  })
  runScenarios([
    leads('/f/abc123?a=b&c=%2F', '/p/abc123?a=b&c=%2F'),
    leads('/r/abc-1_23', '/p/abc-1_23'),
    leads('/f/abc123/r', '/p/abc123/r'),
    leads('/r/abc123/r?x', '/p/abc123/r?x'),
    leads('/en/p/abc123', '/p/abc123?locale=en'),
    leads('/pt-BR/p/abc123/r', '/p/abc123/r?locale=pt-BR'),
    leads('//en//p//abc123/', '/p/abc123?locale=en'),
    ask('GET /f/%0d%0aset-cookie:x', { status: 404 }),
    ask('GET /f/%2F%2Fevil.example', { status: 404 }),
    ask('GET /english/p/abc123', { status: 404 }),
    ask('POST /f/abc123', { status: 405, headers: { allow: 'GET, HEAD' } }),
  ])
  runScenarios([leads('/box/f/abc123', '/box/p/abc123'), leads('/en/p/abc123', '/box/p/abc123?locale=en')], {
    flags: { 'base-url': 'https://localhost/box' },
  })
})

type Row = { kind: string; successful: boolean }

describe('both versions', () => {
  let api: Api
  let token: string

  beforeAll(async () => {
    api = await startApi()
    token = await api.addAccount('ann@example.org')
  })
  afterAll(() => api.close())

  test('present the same objects and the same log', async () => {
    const { body } = await api.call<{ url_token: string }>('/p.json', {
      json: { password: { payload } },
      token,
    })
    const [previous] = (await api.call<unknown[]>('/p/active.json', { token })).body
    const [current] = await api.list('active', token)
    expect(previous).toEqual(current)
    expect(Object.keys(current ?? {}).sort()).toEqual([...LISTED].sort())
    const { views } = (await api.call<{ views: unknown[] }>(`/p/${body.url_token}/audit.json`, { token }))
      .body
    const logged = await api.audit(body.url_token, token)
    expect(views).toEqual(logged.map((entry) => ({ ...entry, successful: true })))
    await api.retrieve(body.url_token)
    const { logs, ...rest } = (await api.call(`/api/v2/pushes/${body.url_token}/audit`, { token })).body
    expect(logs).toHaveLength(2)
    expect(rest).toEqual({})
  })

  test('differ in a member for each log entry: whether it was successful', async () => {
    const { url_token } = await api.create({ passphrase: 'sesame', expire_after_views: 1 }, { token })
    for (const query of ['', '?passphrase=wrong', '?passphrase=sesame', ''])
      await api.retrieve(url_token + query)
    const { views } = (await api.call<{ views: Row[] }>(`/p/${url_token}/audit.json`, { token })).body
    expect(views.map(({ kind, successful }) => [kind, successful])).toEqual([
      ['creation', true],
      ['failed_passphrase', false],
      ['failed_passphrase', false],
      ['view', true],
      ['failed_view', false],
    ])
  })

  test('accept e-mail and token in Basic for their lists, and downloads stay downloads', async () => {
    const basic = `Basic ${Buffer.from(`ann@example.org:${token}`).toString('base64')}`
    for (const path of ['/p/active.json', '/en/d/active.json', '/p/expired.json', '/en/d/expired.json']) {
      const { status, body } = await api.call<unknown[]>(path, { headers: { authorization: basic } })
      expect([status, body.length > 0]).toEqual([200, path.includes('active') || path.includes('expired')])
    }
    expect((await api.fetch('/d/active.json', { headers: { authorization: basic } })).status).toBe(403)
  })

  test('are in the reference, the previous one under a separate heading', async () => {
    const { body } = await api.call<{
      paths: Record<string, Record<string, { tags: string[]; operationId: string }>>
    }>('/api/v2/openapi.json')
    const operations = Object.values(body.paths).flatMap((item) => Object.values(item))
    const previous = operations.filter(({ tags }) => tags.includes('Previous version'))
    expect(previous).toHaveLength(3 * 7 + 1)
    expect(Object.keys(body.paths)).toContain('/p/{url_token}.json')
    expect(Object.keys(body.paths).filter((path) => path.includes('/.json'))).toEqual([])
    const ids = operations.map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
  })
})
