import { describe } from 'bun:test'
import { runScenarios, type Scenario } from '../support/scenarios.ts'
import { CREATED, RETRIEVED } from './members.ts'

const push = { payload: 'correct horse' }
const NO_PUSH = 'GET /api/v2/pushes/0123456789abcdefghjkmnpqrs'
const invalid = { headers: { authorization: 'Bearer obx_0123456789' } }

describe('every endpoint answers with .json too', () => {
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
    ask('previewing', 'GET /api/v2/pushes/{push}/preview.json', { members: ['url'] }),
    ask('auditing', 'GET /api/v2/pushes/{push}/audit.json', { members: ['logs'] }),
    ask('deleting', 'DELETE /api/v2/pushes/{push}.json', { body: { deleted: true }, audit: ['expire'] }),
    ask('what is active', 'GET /api/v2/pushes/active.json?page=1'),
    ask('what is expired', 'GET /api/v2/pushes/expired.json?page=1'),
    ask('the version', 'GET /api/v2/version.json', { body: { edition: 'oss' } }),
  ])
})

describe('repeated slashes and one trailing slash do not matter', () => {
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
    ask('GET /api/v2/pushes/{push}//preview/', { members: ['url'] }),
    ask('GET /api/v2//pushes/{push}/audit/', { members: ['logs'] }),
    ask('DELETE //api/v2/pushes/{push}//', { audit: ['expire'] }),
    ask('GET /api/v2/pushes//active//'),
    ask('GET /api/v2/pushes/expired/'),
    ask('GET //api//v2//version//'),
  ])
})

describe('what is refused first', () => {
  runScenarios([
    {
      name: 'an invalid token, before it shows whether there is such a push',
      ask: NO_PUSH,
      init: invalid,
      status: 401,
    },
    { name: 'a missing token, before that there is no such push', ask: `${NO_PUSH}/audit`, status: 401 },
    {
      name: 'an invalid token, before the body is looked at',
      ask: 'POST /api/v2/pushes',
      init: { ...invalid, body: 'no json' },
      status: 401,
    },
    {
      name: 'a missing token, before the page is looked at',
      ask: 'GET /api/v2/pushes/active?page=0',
      status: 401,
    },
    {
      name: 'that there is no such push, before ownership: auditing',
      ask: `${NO_PUSH}/audit`,
      as: 'other',
      status: 404,
    },
    {
      name: 'that there is no such push, before ownership: deleting',
      ask: NO_PUSH.replace('GET', 'DELETE'),
      status: 404,
      exactly: { error: 'not-found' },
    },
    {
      name: 'that there is no such push, before a passphrase that cannot be read',
      ask: NO_PUSH,
      init: { headers: { 'x-push-passphrase': '%' } },
      status: 404,
    },
    {
      name: 'that a push is not one’s own, before the page is looked at',
      ask: 'GET /api/v2/pushes/{push}/audit?page=0',
      as: 'other',
      status: 403,
    },
    {
      name: 'a missing account for files, before what else is wrong',
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
      name: 'whatever the client would rather have, and wherever it runs',
      ask: 'GET /api/v2/pushes/{push}',
      init: { headers: fetched },
      status: 200,
      headers: { 'content-type': 'application/json; charset=utf-8', 'access-control-allow-origin': null },
      audit: ['view'],
    },
    {
      name: 'refusals too',
      ask: 'POST /api/v2/pushes',
      init: { headers: fetched, json: { push: { payload: '' } } },
      status: 422,
      exactly: { error: "Payload can't be blank", payload: ["can't be blank"] },
    },
    {
      name: 'also where there is nothing',
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
