// Creates through the previous version of the API: its wrappers, its kinds, and bodies other than JSON.

import { describe } from 'bun:test'
import { runScenarios, type Scenario } from '../../support/scenarios.ts'
import { CREATED } from '../members.ts'
import { BOUNDARY, multipart, type Part } from '../multipart.ts'
import { link, payload } from './previous.ts'

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
