// The reference states the limits and defaults of this instance, and creating enforces them.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv, type ValidateFunction } from 'ajv'
import * as formats from 'ajv-formats'
import { isUrlToken, newUrlToken } from '../../src/crypto/url-token.ts'
import { AUDIT_KINDS } from '../../src/domain/audit.ts'
import { type Api, PUSHES, type PushBody, startApi } from '../support/api.ts'

type Schema = {
  items?: Fields
  pattern?: string
  minLength?: number
  minimum?: number
  maximum?: number
  maxLength?: number
  maxItems?: number
  enum?: string[]
  default?: unknown
  description?: string
}
type Fields = { properties: Record<string, Schema>; required?: string[] }
type Content = Record<
  string,
  { schema: { $ref?: string; properties?: Record<string, { $ref?: string }> }; example?: object }
>
type Parameter = { name: string; schema: Schema; example?: unknown }
type Operation = {
  operationId: string
  parameters?: Parameter[]
  requestBody: { content: Content }
  security: object[]
}
type Method = 'get' | 'post' | 'patch' | 'delete'
type Reference = {
  paths: Record<string, Partial<Record<Method, Operation>>>
  components: { schemas: Record<string, Fields> }
}

const FLAGS = {
  'expire-after-days-min': '2',
  'expire-after-days-max': '30',
  'expire-after-days-default': '3',
  'expire-after-views-min': '2',
  'expire-after-views-max': '9',
  'expire-after-views-default': '4',
  'max-payload-bytes': '2048',
  'max-files': '2',
  'max-file-bytes': '4096',
  'retrieval-step-default': 'false',
  'deletable-by-viewer-default': 'false',
  'qr-pushes': 'false',
}

let api: Api
let token: string
let reference: Reference
let fields: Record<string, Schema>

beforeAll(async () => {
  api = await startApi({ flags: FLAGS })
  token = await api.addAccount('ann@example.org')
  reference = (await api.call<Reference>('/api/v2/openapi.json')).body
  fields = reference.components.schemas.PushFields?.properties ?? {}
})
afterAll(() => api.close())

const push = (members: object) =>
  api.call<PushBody>(PUSHES, { json: { push: { payload: 'secret', ...members } }, token })

describe('the reference of an instance with its own limits', () => {
  test('shows them', () => {
    expect(fields).toMatchObject({
      payload: { type: 'string', maxLength: 2048 },
      kind: { enum: ['text', 'file', 'url'] },
      expire_after_days: { type: 'integer', minimum: 2, maximum: 30, default: 3 },
      expire_after_views: { type: 'integer', minimum: 2, maximum: 9, default: 4 },
      deletable_by_viewer: { type: 'boolean', default: false },
      retrieval_step: { type: 'boolean', default: false },
      files: { type: 'array', maxItems: 2 },
    })
    expect(fields.files?.description).toContain('at most 4096 bytes')
    expect(fields.expire_after_duration?.description).toMatch(
      /^Index of 15 min, 30 min, 45 min, 1 h, .*, 60 d, 90 d\. At most 30 d on this server;/,
    )
    expect(fields.payload?.description).not.toContain('qr')
  })

  test.each(['expire_after_days', 'expire_after_views', 'expire_after_duration'])(
    'shows the accepted range of %s',
    async (name) => {
      const { minimum = Number.NaN, maximum = Number.NaN } = fields[name] ?? {}
      // The longest durations exceed the days of this instance.
      const largest = name === 'expire_after_duration' ? 15 : maximum
      for (const value of [minimum, largest]) expect((await push({ [name]: value })).status).toBe(201)
      for (const value of [minimum - 1, maximum + 1]) {
        const { status, body } = await push({ [name]: value })
        expect([status, body]).toMatchObject([422, { [name]: [`must be between ${minimum} and ${maximum}`] }])
      }
    },
  )

  test.each(['payload', 'passphrase', 'name', 'note'])('shows the maximum length of %s', async (name) => {
    const length = fields[name]?.maxLength ?? Number.NaN
    expect((await push({ [name]: 'x'.repeat(length) })).status).toBe(201)
    const { status, body } = await push({ [name]: 'x'.repeat(length + 1) })
    expect([status, Object.keys(body)]).toEqual([422, ['error', name]])
  })

  test('shows the defaults', async () => {
    const { body } = await push({})
    for (const [name, schema] of Object.entries(fields)) {
      if (schema.default !== undefined)
        expect([name, body[name as 'kind']]).toEqual([name, schema.default as string])
    }
  })

  test('shows the kinds that are on, and the number of files of a push', async () => {
    const files = (count: number) => Array.from({ length: count }, () => ({ filename: 'a', data: 'eA==' }))
    for (const kind of fields.kind?.enum ?? []) {
      const payload = 'https://example.org/'
      const given = kind === 'file' ? { files: files(fields.files?.maxItems ?? 0) } : {}
      expect((await push({ kind, payload, ...given })).status).toBe(201)
    }
    expect((await push({ kind: 'qr' })).status).toBe(422)
    expect((await push({ files: files((fields.files?.maxItems ?? 0) + 1) })).status).toBe(422)
  })

  test('shows the same members for forms, in the wrapper of each path', () => {
    const { paths, components } = reference
    const wrappers = {
      '/api/v2/pushes': 'push',
      '/p.json': 'password',
      '/f.json': 'file_push',
      '/r.json': 'url',
    }
    for (const [path, wrapper] of Object.entries(wrappers)) {
      const content = paths[path]?.post?.requestBody.content ?? {}
      const { $ref = '' } = content['multipart/form-data']?.schema ?? {}
      expect(content['application/x-www-form-urlencoded']?.schema).toEqual({ $ref })
      const form = components.schemas[$ref.replace('#/components/schemas/', '')]
      const names = Object.keys(fields).map((name) => `${wrapper}[${name}]${name === 'files' ? '[]' : ''}`)
      expect(Object.keys(form?.properties ?? {})).toEqual(names)
      expect(form?.properties[`${wrapper}[expire_after_days]`]).toEqual(fields.expire_after_days ?? {})
      expect(content['application/json']?.schema.properties?.[wrapper]?.$ref).toBe(
        '#/components/schemas/PushFields',
      )
    }
  })

  test('shows for each path an example that its schema allows', () => {
    const ajv = new Ajv({ allErrors: true })
    formats.default.default(ajv)
    const validate = ajv.compile(reference.components.schemas.PushFields ?? {})
    for (const path of ['/api/v2/pushes', '/p.json', '/f.json', '/r.json']) {
      const json = reference.paths[path]?.post?.requestBody.content['application/json']
      const [example] = Object.values(json?.example ?? {})
      expect([path, validate(example), validate.errors]).toEqual([path, true, null])
    }
  })

  test('names no missing schema', () => {
    const known = Object.keys(reference.components.schemas)
    const named = JSON.stringify(reference).matchAll(/"#\/components\/schemas\/([^"]+)"/g)
    for (const [, name = ''] of named) expect(known).toContain(name)
  })
})

describe('the schema of a new push', () => {
  let validate: ValidateFunction
  beforeAll(() => {
    const ajv = new Ajv({ allErrors: true })
    formats.default.default(ajv)
    validate = ajv.compile(reference.components.schemas.PushFields ?? {})
  })

  test.each([
    ['a payload alone', { payload: 'secret' }],
    [
      'every member',
      { payload: 'x', kind: 'text', expire_after_days: 2, expire_after_views: 2, name: 'n', note: 'n' },
    ],
    ['an unknown member', { payload: 'x', account_id: 7 }],
    ['a file alone', { payload: undefined, files: [{ filename: 'a', data: 'eA==' }] }],
    ['an empty address to notify', { payload: 'x', notify_emails_to: '' }],
  ])('allows %s, and the server creates it', async (_, members) => {
    expect([validate(members), validate.errors]).toEqual([true, null])
    expect((await push(members)).status).toBe(201)
  })

  test.each([
    ['too many days', { payload: 'x', expire_after_days: 31 }],
    ['half a view', { payload: 'x', expire_after_views: 2.5 }],
    ['a kind that is off', { payload: 'x', kind: 'qr' }],
    ['a payload that is a number', { payload: 7 }],
    ['an address to notify', { payload: 'x', notify_emails_to: 'a@example.org' }],
    ['a list as a boolean', { payload: 'x', retrieval_step: [] }],
    ['files that are no list', { payload: 'x', files: 'a' }],
  ])('forbids %s, and the server refuses it', async (_, members) => {
    expect(validate(members)).toBe(false)
    expect((await push(members)).status).toBe(422)
  })

  test.each([
    ['digits', { expire_after_days: ' 7 ' }, { expire_after_days: 7 }],
    ['a word of a form', { retrieval_step: ' ON ' }, { retrieval_step: true }],
    ['a number', { deletable_by_viewer: 1 }, { deletable_by_viewer: true }],
    ['a space', { retrieval_step: ' ' }, { retrieval_step: false }],
    ['an empty string', { expire_after_views: '' }, { expire_after_views: 4 }],
    ['null', { expire_after_views: null }, { expire_after_views: 4 }],
  ])('accepts %s in place of another type, and the server converts it', async (_, members, expected) => {
    expect(await push(members)).toMatchObject({ status: 201, body: expected })
  })
})

describe('the security of the reference', () => {
  const NONE = {}
  const tokens = [{ token: [] }, { userToken: [] }, { basic: [] }]

  test('is required where the route needs an account', () => {
    const { paths } = reference
    expect(paths['/api/v2/version']?.get?.security).toEqual([NONE])
    expect(paths['/api/v2/pushes']?.post?.security).toEqual([NONE, ...tokens])
    expect(paths['/api/v2/pushes/active']?.get?.security).toEqual(tokens)
    expect(paths['/f.json']?.post?.security).toEqual(tokens)
  })

  test('is required for everything but the version if anonymous access is off', async () => {
    const closed = await startApi({ flags: { 'anonymous-access': 'false' } })
    try {
      const headers = { authorization: `Bearer ${await closed.addAccount('ann@example.org')}` }
      const { body } = await closed.call<Reference>('/api/v2/openapi.json', { headers })
      for (const [path, methods] of Object.entries(body.paths)) {
        const expected = path.endsWith('/version') ? [NONE] : tokens
        for (const { security } of Object.values(methods)) expect([path, security]).toEqual([path, expected])
      }
    } finally {
      await closed.close()
    }
  })
})

describe('the document', () => {
  const off = (...names: string[]) => Object.fromEntries(names.map((name) => [name, 'false']))
  test.each([
    [{}],
    [off('anonymous-access')],
    [off('files')],
    [off('url-pushes')],
    [off('qr-pushes')],
    [off('anonymous-access', 'files', 'url-pushes', 'qr-pushes', 'signups')],
    [FLAGS],
    [{ 'base-url': 'https://localhost/box' }],
  ])('is valid OpenAPI with %j', async (flags) => {
    const instance = await startApi({ flags })
    try {
      const headers = { authorization: `Bearer ${await instance.addAccount('ann@example.org')}` }
      const { body } = await instance.call<Reference>('/api/v2/openapi.json', { headers })
      expect(await new Validator().validate(body)).toEqual({ valid: true })
      const operations = Object.values(body.paths).flatMap((methods) => Object.values(methods))
      const ids = operations.map(({ operationId }) => operationId)
      expect(ids).toEqual([...new Set(ids)])
    } finally {
      await instance.close()
    }
  })

  test('accepts URL tokens of created and of imported pushes', () => {
    const pattern = new RegExp(reference.components.schemas.ListedPush?.properties.url_token?.pattern ?? '')
    const made = Array.from({ length: 50 }, newUrlToken)
    const others = ['new', 'quite-short_7', 'x'.repeat(11), 'x'.repeat(19), 'o'.repeat(26), 'X'.repeat(12)]
    for (const urlToken of [
      ...made,
      ...others,
      'x'.repeat(10),
      'x'.repeat(20),
      `${made[0]}\n`,
      'a/b'.repeat(4),
    ])
      expect([urlToken, pattern.test(urlToken)]).toEqual([urlToken, isUrlToken(urlToken)])
    const [parameter] = reference.paths['/api/v2/pushes/{url_token}']?.get?.parameters ?? []
    expect(parameter?.schema.pattern).toBe(pattern.source)
  })

  test('lists the kinds of log entries, and allows future ones', () => {
    const kind = reference.components.schemas.AuditLog?.properties.logs?.items?.properties.kind
    expect(kind).toBeDefined()
    expect(kind?.enum).toBeUndefined()
    for (const name of AUDIT_KINDS) expect(kind?.description).toContain(`\`${name}\``)
  })
})

describe('the headers in the reference', () => {
  const schemaOf = (name: string, method: Method) => {
    const path = method === 'get' ? '/api/v2/pushes/{url_token}' : '/api/v2/pushes'
    const found = reference.paths[path]?.[method]?.parameters?.find((parameter) => parameter.name === name)
    expect(found).toBeDefined()
    return found as Parameter
  }
  const fits = (value: string, { pattern = '', minLength = 0, maxLength = Infinity }: Schema) =>
    new RegExp(pattern).test(value) && value.length >= minLength && value.length <= maxLength

  test('show no example of an idempotency key, because programs would all copy it', () => {
    const { example, schema } = schemaOf('Idempotency-Key', 'post')
    expect([example, schema]).toEqual([
      undefined,
      expect.not.objectContaining({ example: expect.anything() }),
    ])
  })

  test.each([
    'x'.repeat(21),
    '~'.repeat(22),
    'a sentence with spaces',
    'x'.repeat(128),
    'x'.repeat(129),
    `${'x'.repeat(30)}\t${'x'.repeat(30)}`,
    `${'x'.repeat(30)}\u00e9`,
  ])('the key %p is accepted if the schema allows it', async (key) => {
    const json = { push: { payload: 'secret' } }
    const { status } = await api.call(PUSHES, { json, headers: { 'idempotency-key': key } })
    expect(status).toBe(fits(key, schemaOf('Idempotency-Key', 'post').schema) ? 201 : 400)
  })

  test.each([
    ['sesame', 'sesame'],
    ['gr%C3%BCn%20%25', 'grün %'],
    ['open sesame', 'open sesame'],
    ['100%', '100%'],
    ['%zz', '%zz'],
    ['50%2', '50%2'],
  ])('the passphrase %p is accepted if the schema allows it', async (header, passphrase) => {
    const { body } = await push({ passphrase })
    const answer = await api.retrieve(body.url_token, { headers: { 'x-push-passphrase': header } })
    expect(answer.status).toBe(fits(header, schemaOf('X-Push-Passphrase', 'get').schema) ? 200 : 400)
  })
})

test('an instance without files says that it accepts none', async () => {
  const without = await startApi({ flags: { files: 'false' } })
  try {
    const { body } = await without.call<Reference>('/api/v2/openapi.json')
    const { properties } = body.components.schemas.PushFields ?? { properties: {} }
    expect(properties.files).toMatchObject({ maxItems: 0, description: 'Files are disabled on this server.' })
    expect(properties.kind?.enum).toEqual(['text', 'url', 'qr'])
    expect(Object.keys(body.paths)).not.toContain('/f.json')
  } finally {
    await without.close()
  }
})
