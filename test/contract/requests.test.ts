import { describe } from 'bun:test'
import { runScenarios, type Scenario } from '../support/scenarios.ts'
import { CREATED, RETRIEVED } from './members.ts'

const push = { payload: 'correct horse' }
const NO_PUSH = 'GET /api/v2/pushes/0123456789abcdefghjkmnpqrs'
const invalid = { headers: { authorization: 'Bearer obx_0123456789' } }

describe('every endpoint also answers with .json', () => {
  const ask = (name: string, line: string, rest: Partial<Scenario> = {}): Scenario => ({
    name: `${name}: ${line}`,
    ask: line,
    as: 'owner',
    status: 200,
    ...rest,
  })
  runScenarios([
    ask('creating', 'POST /api/v2/pushes.json', {
      init: { json: { push } },
      status: 201,
      members: CREATED,
      audit: ['creation'],
    }),
    ask('retrieving', 'GET /api/v2/pushes/{push}.json', { members: RETRIEVED, audit: ['view'] }),
    ask('previewing', 'GET /api/v2/pushes/{push}/preview.json', {
      members: ['url', 'expired', 'passphrase_required'],
    }),
    ask('auditing', 'GET /api/v2/pushes/{push}/audit.json', { members: ['logs'] }),
    ask('deleting', 'DELETE /api/v2/pushes/{push}.json', { body: { deleted: true }, audit: ['expire'] }),
    ask('what is active', 'GET /api/v2/pushes/active.json?page=1'),
    ask('what is expired', 'GET /api/v2/pushes/expired.json?page=1'),
    ask('the version', 'GET /api/v2/version.json', { body: { edition: 'oss' } }),
  ])
})

describe('repeated slashes and a trailing slash are ignored', () => {
  const ask = (line: string, rest: Partial<Scenario> = {}): Scenario => ({
    name: line,
    ask: line,
    as: 'owner',
    status: 200,
    ...rest,
  })
  runScenarios([
    ask('POST /api/v2/pushes/', { init: { json: { push } }, status: 201, audit: ['creation'] }),
    ask('POST //api//v2///pushes//', { init: { json: { push } }, status: 201, audit: ['creation'] }),
    ask('GET /api/v2/pushes/{push}/', { audit: ['view'] }),
    ask('GET /api/v2/pushes//{push}?passphrase=a//b/', { audit: ['view'] }),
    ask('GET /api/v2/pushes/{push}.json/', { audit: ['view'] }),
    ask('GET /api/v2/pushes/{push}//preview/', { members: ['url', 'expired', 'passphrase_required'] }),
    ask('GET /api/v2//pushes/{push}/audit/', { members: ['logs'] }),
    ask('DELETE //api/v2/pushes/{push}//', { audit: ['expire'] }),
    ask('GET /api/v2/pushes//active//'),
    ask('GET /api/v2/pushes/expired/'),
    ask('GET //api//v2//version//'),
  ])
})

describe('the first refusal is about', () => {
  runScenarios([
    {
      name: 'an invalid token, before a missing push',
      ask: NO_PUSH,
      init: invalid,
      status: 401,
    },
    { name: 'a missing token, before a missing push', ask: `${NO_PUSH}/audit`, status: 401 },
    {
      name: 'an invalid token, before an unreadable body',
      ask: 'POST /api/v2/pushes',
      init: { ...invalid, body: 'no json' },
      status: 401,
    },
    {
      name: 'a missing token, before an invalid page',
      ask: 'GET /api/v2/pushes/active?page=0',
      status: 401,
    },
    {
      name: 'a missing push, before ownership: auditing',
      ask: `${NO_PUSH}/audit`,
      as: 'other',
      status: 404,
    },
    {
      name: 'a missing push, before ownership: deleting',
      ask: NO_PUSH.replace('GET', 'DELETE'),
      status: 404,
      exactly: { error: 'not-found' },
    },
    {
      name: 'a missing push, before an unreadable passphrase',
      ask: NO_PUSH,
      init: { headers: { 'x-push-passphrase': '%' } },
      status: 404,
    },
    {
      name: 'the ownership of a push, before an invalid page',
      ask: 'GET /api/v2/pushes/{push}/audit?page=0',
      as: 'other',
      status: 403,
    },
    {
      name: 'a missing account for files, before other problems',
      ask: 'POST /api/v2/pushes',
      init: { json: { push: { files: [], expire_after_days: 0 } } },
      status: 401,
    },
  ])
})

describe('answers are JSON in English', () => {
  const wishes = { accept: 'text/html', 'accept-language': 'de', origin: 'chrome-extension://abcdefgh' }
  const fetched = { ...wishes, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }
  runScenarios([
    {
      name: 'whatever the client accepts and wherever it runs',
      ask: 'GET /api/v2/pushes/{push}',
      init: { headers: fetched },
      status: 200,
      headers: { 'content-type': 'application/json; charset=utf-8', 'access-control-allow-origin': null },
      audit: ['view'],
    },
    {
      name: 'for refusals too',
      ask: 'POST /api/v2/pushes',
      init: { headers: fetched, json: { push: { payload: '' } } },
      status: 422,
      exactly: { error: "Payload can't be blank", payload: ["can't be blank"] },
    },
    {
      name: 'for unknown paths too',
      ask: 'GET /api/v2/nothing',
      init: { headers: wishes },
      status: 404,
      exactly: { error: 'not-found' },
    },
  ])
})

describe('a body is ignored, whatever its type,', () => {
  const noise = { headers: { 'content-type': 'multipart/form-data' }, body: '{"push": ' }
  runScenarios([
    { name: 'on GET', ask: 'GET /api/v2/pushes/{push}', init: noise, status: 200, audit: ['view'] },
    { name: 'on HEAD', ask: 'HEAD /api/v2/pushes/{push}', init: noise, status: 200 },
    {
      name: 'on DELETE',
      ask: 'DELETE /api/v2/pushes/{push}',
      as: 'owner',
      init: noise,
      status: 200,
      audit: ['expire'],
    },
  ])
})
