// The previous version of the API: other paths and wrappers, the same pushes.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Api, startApi } from '../support/api.ts'
import { runScenarios, type Scenario } from '../support/scenarios.ts'
import { CREATED, LISTED, RETRIEVED } from './members.ts'
import { BOUNDARY, multipart, type Part } from './multipart.ts'

const payload = 'correct horse'
const link = 'https://example.org/a?b=c'
const NO_PUSH = '0123456789abcdefghjkmnpqrs'

const ask = (line: string, rest: Partial<Scenario> = {}): Scenario => ({
  name: line,
  ask: line,
  as: 'owner',
  status: 200,
  ...rest,
})

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
    ask(`GET /${family}/{push}/preview.json`, { members: ['url'] }),
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

describe('creating', () => {
  const made = (path: string, json: unknown, rest: Partial<Scenario> = {}): Scenario => ({
    name: `${path} ${JSON.stringify(json)}`,
    ask: `POST ${path}`,
    init: { json },
    status: 201,
    members: CREATED,
    audit: ['creation'],
    ...rest,
  })
  const refused = (path: string, json: unknown, status: number, rest: Partial<Scenario> = {}) =>
    made(path, json, { status, members: undefined as never, audit: [], ...rest })
  runScenarios([
    ...['password', 'push', 'file'].map((wrapper) =>
      made('/p.json', { [wrapper]: { payload } }, { body: { kind: 'text' } }),
    ),
    ...['url', 'push', 'file'].map((wrapper) =>
      made('/r.json', { [wrapper]: { payload: link } }, { body: { kind: 'url', deletable_by_viewer: null } }),
    ),
    made('//p.json', { password: { payload } }),
    made('/en/p.json', { password: { payload } }),
    made('/p.json', { password: { payload: link, kind: 'url' } }, { body: { kind: 'url' } }),
    made('/p.json', { password: { payload, kind: 'qr' } }, { body: { kind: 'qr' } }),
    made('/p.json', { password: { payload }, account_id: 7 }),
    made(
      '/p.json',
      { password: { payload, deletable_by_viewer: 'False', retrieval_step: 'True' } },
      {
        body: { deletable_by_viewer: false, retrieval_step: true },
      },
    ),
    made(
      '/p.json',
      { password: { payload, expire_after_days: '3', expire_after_views: '2' } },
      {
        body: { expire_after_days: 3, expire_after_views: 2 },
      },
    ),
    made('/r.json', { url: { payload: link, kind: 'text' } }, { body: { kind: 'url' } }),
    refused('/r.json', { url: { payload: 'javascript:alert(1)' } }, 422),
    refused('/p.json', { password: { payload, expire_after_days: 91 } }, 422),
    refused('/p.json', { payload }, 400, {
      exactly: { error: 'The body needs an object "password", as in {"password": {"payload": "…"}}' },
    }),
    refused('/p.json', { url: { payload: link } }, 400),
    refused('/r.json', { password: { payload: link } }, 400),
    refused('/f.json', { file_push: { payload } }, 401),
    refused('/f.json', { file_push: { payload } }, 422, { as: 'owner' }),
    refused('/f.json', { password: { payload } }, 400, { as: 'owner' }),
    refused('/p.json', { password: { payload, kind: 'file' } }, 401),
    refused('/p.json', null, 400),
    refused('/p.json', { password: { payload } }, 401, { init: { json: {}, token: 'obx_wrong' } }),
  ])

  const file = (name: string): Part => ({ name, disposition: 'filename="a.txt"', content: 'inside' })
  const sent = (path: string, parts: Part[], rest: Partial<Scenario> = {}): Scenario => ({
    name: `multipart ${path} ${parts.map(({ name }) => name).join(' ')}`,
    ask: `POST ${path}`,
    as: 'owner',
    init: {
      headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
      body: multipart(parts),
    },
    status: 201,
    audit: ['creation'],
    ...rest,
  })
  runScenarios([
    sent('/f.json', [file('file_push[files][]')], { body: { kind: 'file' } }),
    sent('/f.json', [file('file[files][]'), { name: 'file[payload]', content: payload }], {
      body: { kind: 'file' },
    }),
    sent('/f.json', [file('push[files][0]'), { name: 'push[kind]', content: 'text' }], {
      body: { kind: 'file' },
    }),
    sent('/p.json', [{ name: 'password[payload]', content: payload }, file('password[files][]')], {
      body: { kind: 'file' },
    }),
    sent(
      '/p.json',
      [
        file('password[files][]'),
        { name: 'password[payload]', content: payload },
        { name: 'password[kind]', content: 'text' },
      ],
      { body: { kind: 'text', files: [{ filename: 'a.txt' }] } },
    ),
    sent('/p.json', [file('password[files][]')], { as: 'visitor', status: 401, audit: [] }),
    sent('/f.json', [file('file_push[files][]')], { as: 'visitor', status: 401, audit: [] }),
  ])
})

describe('a body without a content type', () => {
  const untyped = (text: string): NonNullable<Scenario['init']> => ({ body: new TextEncoder().encode(text) })
  const sent = (text: string, rest: Partial<Scenario> = {}): Scenario => ({
    name: JSON.stringify(text),
    ask: 'POST /p.json',
    init: untyped(text),
    status: 201,
    audit: ['creation'],
    ...rest,
  })
  const refused = { status: 400, audit: [] }
  runScenarios([
    sent('password[payload]=a&password[expire_after_views]=2', { body: { expire_after_views: 2 } }),
    sent('password%5Bpayload%5D=%7Ba'),
    sent('{"password": {"payload": "a", "expire_after_views": 3}}', { body: { expire_after_views: 3 } }),
    sent('\r\n {"push": {"payload": "a"}}'),
    sent('url[payload]=https%3A%2F%2Fexample.org', { ask: 'POST /r.json', body: { kind: 'url' } }),
    sent('{"password": {"payload": "a"}', refused),
    sent('["password"]', refused),
    sent('', refused),
    sent('hello', refused),
    sent('password[payload]=%E9', refused),
    sent('{"file_push": {"payload": "a"}}', { ask: 'POST /f.json', status: 401, audit: [] }),
    sent('{"push": {"payload": "a"}}', {
      ...refused,
      name: 'is refused by version 2',
      ask: 'POST /api/v2/pushes',
    }),
    sent('push[payload]=a', {
      ...refused,
      name: 'is refused by version 2 as a form',
      ask: 'POST /api/v2/pushes',
    }),
  ])
  runScenarios([
    sent('{}', {
      name: 'of another type is refused still',
      init: { ...untyped('{}'), headers: { 'content-type': 'text/plain' } },
      status: 415,
      audit: [],
    }),
  ])
})

describe('fields in the query', () => {
  const json = { password: { payload: 'body', expire_after_views: 2 } }
  const sent = (query: string, rest: Partial<Scenario> = {}): Scenario => ({
    name: query,
    ask: `POST /p.json?${query}`,
    as: 'owner',
    init: { json },
    status: 201,
    audit: ['creation'],
    ...rest,
  })
  const form = (body: string): NonNullable<Scenario['init']> => ({
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body,
  })
  const refused = (status: number): Partial<Scenario> => ({ status, audit: [] })
  const limits = (days: number, views: number) => ({
    body: { expire_after_days: days, expire_after_views: views },
  })
  runScenarios([
    sent('password[expire_after_days]=3', limits(3, 2)),
    sent('password%5Bexpire_after_days%5D=3', limits(3, 2)),
    sent('push[expire_after_days]=3', limits(3, 2)),
    sent('push[expire_after_days]=4&password[expire_after_days]=3', limits(3, 2)),
    sent('password[expire_after_days]=3&password[expire_after_views]=9', limits(3, 2)),
    sent('password[name]=a+b%26c&locale=de', { body: { name: 'a b&c' } }),
    sent('password[expire_after_days]=3', {
      name: 'count where the body says "not given"',
      init: { json: { password: { payload: 'x', expire_after_days: '', expire_after_views: null } } },
      ...limits(3, 5),
    }),
    sent('password[expire_after_views]=9', {
      name: 'beside a form',
      init: form('password[payload]=a'),
      ...limits(7, 9),
    }),
    sent('password[payload]=a&password[expire_after_views]=9', { name: 'alone', init: {}, ...limits(7, 9) }),
    sent('password[payload]=a', { name: 'alone beside an empty form', init: form('') }),
    sent('password[payload]=a', {
      name: 'alone beside an empty body of JSON',
      init: { headers: { 'content-type': 'application/json' }, body: '' },
    }),
    sent('password[expire_after_days]=3', {
      name: 'beside a body without its wrapper',
      init: { json: { payload: 'x' } },
      ...refused(422),
    }),
    sent('password[expire_after_days]=91', refused(422)),
    sent('password[expire_after_days]=x', refused(422)),
    sent('password[payload]=%E9', refused(400)),
    sent('expire_after_days=3', { name: 'without a wrapper are none', ...limits(7, 2) }),
    sent('url[expire_after_days]=3', { name: 'of another wrapper are none', ...limits(7, 2) }),
    sent('file_push[expire_after_days]=3', {
      ask: 'POST /f.json?file_push[expire_after_days]=3',
      init: {
        headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
        body: multipart([{ name: 'file_push[files][]', disposition: 'filename="a.txt"', content: 'inside' }]),
      },
      body: { expire_after_days: 3, kind: 'file' },
    }),
    sent('push[expire_after_days]=3', {
      name: 'are none of version 2',
      ask: 'POST /api/v2/pushes?push[expire_after_days]=3',
      init: { json: { push: { payload: 'a' } } },
      ...limits(7, 5),
    }),
    sent('password[passphrase]=sesame&passphrase=other', { body: { passphrase_required: true } }),
    sent('password[__proto__][]=x&password[constructor]=y', {
      name: 'of hostile names change nothing',
      ...limits(7, 2),
    }),
  ])
})

describe('the lists under the path of the older dashboard', () => {
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

describe('what is off', () => {
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

  test('tell the same objects and the same log', async () => {
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

  test('the previous one says for each entry whether it was successful', async () => {
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

  test('list what they list to e-mail and token in Basic, and downloads stay downloads', async () => {
    const basic = `Basic ${Buffer.from(`ann@example.org:${token}`).toString('base64')}`
    for (const path of ['/p/active.json', '/en/d/active.json', '/p/expired.json', '/en/d/expired.json']) {
      const { status, body } = await api.call<unknown[]>(path, { headers: { authorization: basic } })
      expect([status, body.length > 0]).toEqual([200, path.includes('active') || path.includes('expired')])
    }
    expect((await api.fetch('/d/active.json', { headers: { authorization: basic } })).status).toBe(403)
  })

  test('are in the reference, the previous one under its own heading', async () => {
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
