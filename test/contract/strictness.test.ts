// The schemas of the reference are as strict as the server: whatever fits a schema is not refused for its
// form.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Ajv, type ValidateFunction } from 'ajv'
import * as formats from 'ajv-formats'
import { type Api, PUSHES, startApi, type Wire } from '../support/api.ts'

const FLAGS = {
  ...{ 'smtp-url': 'smtps://127.0.0.1:1', 'mail-from': 'once@example.org', 'base-url': 'http://localhost' },
  ...{ 'webhook-hosts': 'hook.example', 'max-payload-bytes': '2048', 'max-files': '2' },
  ...{ 'expire-after-days-min': '2', 'expire-after-days-max': '30', 'expire-after-views-max': '9' },
  ...{ 'max-passphrase-attempts': '0', 'max-live-pushes-per-address': '0' },
}
const REQUESTS = '/api/oncebox/requests'
const WEBHOOKS = '/api/oncebox/webhooks'
const FILE = { filename: 'a.txt', data: 'eA==' }
const KEY = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p'

let api: Api
let token = ''
let urlToken = ''
type Reference = {
  paths: Record<string, { get: { parameters: { name: string; schema: { pattern: string } }[] } }>
  components: { schemas: Record<string, object> }
}
let paths: Reference['paths'] = {}
let schemas: Reference['components']['schemas'] = {}
beforeAll(async () => {
  api = await startApi({ flags: FLAGS })
  token = await api.addAccount('ann@example.org')
  const { body } = await api.call<Reference>('/api/v2/openapi.json')
  paths = body.paths
  schemas = body.components.schemas
  urlToken = String((await send(PUSHES, { push: { payload: 'x' } })).body.url_token)
})
afterAll(() => api.close())

/** Sends from a new address each time, so that no rate limit applies. */
const send = (path: string, json: Wire, method = 'POST') =>
  api.call(path, { method, json, token, from: '127.0.0.1' })

function validatorOf(name: string): ValidateFunction {
  const ajv = new Ajv({ allErrors: true })
  formats.default.default(ajv)
  return ajv.compile(schemas[name] ?? {})
}

const long = (length: number) => 'x'.repeat(length)
const NUMBERS = [
  -1,
  0,
  1,
  2,
  3,
  1.5,
  6,
  7,
  9,
  10,
  15,
  16,
  17,
  18,
  29,
  30,
  31,
  100,
  101,
  3650,
  3651,
  1e6,
  1e6 + 1,
  1e21,
]
const TEXTS = [
  '',
  ' ',
  'a',
  '\u00a0',
  'text',
  'url',
  'qr',
  'file',
  'files',
  'gr\u00fcn',
  'de',
  'de-AT',
  'xx',
  'null',
  'true',
]
const LENGTHS = [255, 256, 1024, 1025, 2000, 2001, 2048, 2049, 10_000, 10_001].map(long)
const ADDRESSES = [
  ...[
    'https://hook.example/x',
    'http://hook.example',
    'HTTPS://hook.example?x',
    'ftp://hook.example',
    'hook.example',
  ],
  ...[
    'https://',
    'https:///x',
    'https://hook.example/a\nb',
    'https://ann:x@hook.example',
    ' https://hook.example ',
    'javascript:x',
  ],
  ...[
    'ann@example.org',
    'ann@example.org,bob@example.org',
    'ann@example.org, ,bob@example.org,',
    'ann',
    'ann@',
    '@x',
    'a..b@x',
    '.a@x',
  ],
  ...[
    'ann@-x',
    'ann@x-',
    'ann@x..y',
    'ann@gr\u00fcn.example',
    'a b@x',
    'ann@x;bob@x',
    `${long(65)}@x`,
    `${long(64)}@x`,
    `a@${long(64)}`,
  ],
  ...[
    `a@${Array.from({ length: 6 }, () => long(50)).join('.')}`,
    'a@x,b@x,c@x,d@x,e@x',
    'a@x,b@x,c@x,d@x,e@x,f@x',
    ',',
    '"a"@x',
    '<a@x>',
  ],
  ...[
    'AGE-SECRET-KEY-1QQQQ',
    'age1',
    'age1qqqq',
    `age1b${'q'.repeat(57)}`,
    KEY,
    ` ${KEY} `,
    KEY.toUpperCase(),
    'ssh-ed25519 AAAA',
    'age1yubikey1qqqq',
  ],
]
const LISTS = [
  ...[
    [],
    [''],
    ['text'],
    ['text', 'files'],
    ['files', 'files'],
    ['more'],
    ['push.opened'],
    ['push.opened', 'x'],
    [7],
    [null],
    [{}],
  ],
  ...[
    [FILE],
    [FILE, FILE],
    [FILE, FILE, FILE],
    [{ filename: 'a' }],
    [{ data: 'eA==' }],
    [{ filename: 7, data: '' }],
    ['a'],
  ],
  ...['e', 'eA', 'eA=', 'eA==', 'eAA', 'eAA=', 'eAAA', 'e-_=', '====', 'eA==eA==', ' eA=', ''].map((data) => [
    { ...FILE, data },
  ]),
  ...[[{ ...FILE, filename: long(255) }], [{ ...FILE, filename: long(256) }], [{ ...FILE, filename: '' }]],
]
const VALUES: unknown[] = [
  ...NUMBERS,
  ...TEXTS,
  ...LENGTHS,
  ...ADDRESSES,
  ...LISTS,
  true,
  false,
  {},
  { a: 1 },
]

/**
 * Refusals that no schema describes: the hosts that the operator allows, which are confidential; the
 * remaining lifetime of an edited push; and end-to-end answers to a request without a recipient.
 */
const UNSAID =
  /^must be at a host that|^would let the push live longer|^must be between 1 and 1$|^is not asked for$/

/** Try members that depend on each other with each base body, and all others with the first one. */
const TOGETHER = new Set(['kind', 'payload', 'files'])

type Body = {
  schema: string
  wrapper: string
  path: () => string | Promise<string>
  base: Wire[]
  method?: string
}
const BODIES: Body[] = [
  {
    ...{ schema: 'PushFields', wrapper: 'push', path: () => PUSHES },
    base: [
      ...[
        { payload: 'x' },
        {},
        { files: [FILE] },
        { kind: 'text', files: [FILE] },
        { kind: 'file', payload: 'x' },
      ],
      ...[
        { kind: 'url', payload: 'https://example.org/' },
        { kind: 'url' },
        { kind: 'qr', payload: 'x' },
        { kind: 'qr' },
      ],
    ],
  },
  {
    ...{ schema: 'PushEditFields', wrapper: 'push', path: () => `${PUSHES}/${urlToken}`, method: 'PATCH' },
    base: [{}],
  },
  {
    ...{ schema: 'LinkMailFields', wrapper: 'push', path: () => `${PUSHES}/${urlToken}/notify_emails` },
    base: [{ notify_emails_to: 'ann@example.org' }, {}],
  },
  { schema: 'RequestFields', wrapper: 'request', path: () => REQUESTS, base: [{}] },
  {
    ...{ schema: 'AnswerFields', wrapper: 'push', base: [{ payload: 'x' }, {}, { files: [FILE] }] },
    path: async () => `${REQUESTS}/${(await send(REQUESTS, { request: {} })).body.url_token}/answers`,
  },
  {
    schema: 'WebhookFields',
    wrapper: 'webhook',
    path: () => WEBHOOKS,
    base: [{ url: 'https://hook.example/' }, {}],
  },
]

describe.each(BODIES)('what fits $schema', ({ schema, wrapper, path, base, method }) => {
  test('is not refused, whichever value a member has', async () => {
    const fits = validatorOf(schema)
    const names = Object.keys((schemas[schema] as { properties: object }).properties)
    const refused: string[] = []
    const bodies: Wire[] = base.flatMap((others) => [
      others,
      ...names
        .filter((name) => others === base[0] || TOGETHER.has(name))
        .flatMap((name) => VALUES.map((value) => ({ ...others, [name]: value }))),
      ...['payload', 'expires_at', 'html_url', 'account'].map((name) => ({ ...others, [name]: 'x' })),
    ])
    for (const body of bodies) {
      if (!fits(body)) continue
      const { status, text, body: answer } = await send(await path(), { [wrapper]: body }, method)
      const problems = Object.values(answer).flat().map(String)
      if (status < 400 || problems.some((problem) => UNSAID.test(problem))) continue
      refused.push(`${JSON.stringify(body).slice(0, 120)}: ${status} ${text}`)
    }
    expect(refused).toEqual([])
  })
})

describe('a form', () => {
  test.each([
    ['PushForm', { 'push[payload]': 'x' }, {}],
    ['PushForm', { 'push[files][]': ['x'] }, { 'push[files][]': [] }],
    [
      'PushForm',
      { 'push[kind]': 'url', 'push[payload]': 'http://x' },
      { 'push[kind]': 'url', 'push[payload]': 'x' },
    ],
    ['AnswerForm', { 'push[payload]': 'x' }, {}],
    ['AnswerForm', { payload: 'x' }, { payload: ' ' }],
    ['LinkMailForm', { 'push[notify_emails_to]': 'a@x' }, { 'push[notify_emails_to]': 'a' }],
    ['WebhookForm', { 'webhook[url]': 'http://x' }, { 'webhook[format]': 'ntfy' }],
    ['RequestForm', { 'request[accept]': ['text'] }, { 'request[accept]': ['x'] }],
  ])('%s has the rules of the JSON schema: %j fits, %j does not', (name, good, bad) => {
    const fits = validatorOf(name)
    expect([fits(good), fits(bad)]).toEqual([true, false])
  })
})

test('the schema of the passphrase header matches exactly percent-encoded UTF-8', async () => {
  const header = paths['/api/v2/pushes/{url_token}']?.get.parameters.find(
    ({ name }) => name === 'X-Push-Passphrase',
  )
  const pattern = new RegExp(header?.schema.pattern ?? '')
  const decodes = (text: string) => {
    try {
      return decodeURIComponent(text) !== null
    } catch {
      return false
    }
  }
  const bytes = [
    0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xdf, 0xe0, 0xed, 0xef, 0xf0, 0xf4,
    0xf5,
  ]
  const escapes = bytes.map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
  for (const one of escapes)
    for (const two of ['', ...escapes])
      for (const three of ['', ...escapes])
        for (const four of ['', ...escapes]) {
          const text = `${one}${two}${three}${four}`
          if (pattern.test(text) !== decodes(text)) throw new Error(text)
        }
  expect(pattern.test('%E2%82%AC 100 $')).toBe(true)
})
