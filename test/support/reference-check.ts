// Checks every answer against the API reference, and against the contract's promises for all answers.

import { expect } from 'bun:test'
import { Ajv, type ValidateFunction } from 'ajv'
import * as formats from 'ajv-formats'

type Schema = Record<string, unknown>
type Operation = { responses: Record<string, { content: { 'application/json': { schema: Schema } } }> }
export type Reference = {
  paths: Record<string, Partial<Record<string, Operation>>>
  components: { schemas: Record<string, Schema> }
}

export type Exchanged = { method: string; path: string; response: Response; text: string }

export type CheckAnswer = (exchanged: Exchanged) => void

/** Paths under /api that are for people or for tools, and not in the reference. */
const UNLISTED = new Set(['/api', '/api/v2/docs', '/api/v2/openapi.json'])

export function createCheckAnswer(reference: Reference, { basePath = '' } = {}): CheckAnswer {
  const validatorOf = createValidators(reference)

  function checkBody(operation: Operation, { method, path, response, text }: Exchanged): void {
    const documented = operation.responses[response.status]
    const said = `${method} ${path} answered ${response.status} ${text}`
    if (documented === undefined) throw new Error(`${said}, which the reference does not have`)
    if (method === 'HEAD') return
    const validate = validatorOf(documented.content['application/json'].schema)
    if (!validate(JSON.parse(text))) {
      throw new Error(`${said}, which does not fit: ${JSON.stringify(validate.errors)}`)
    }
  }

  return (exchanged) => {
    checkEveryAnswer(exchanged)
    const path = plainPath(exchanged.path, basePath)
    if (!isApi(path)) return
    checkJson(exchanged)
    const operation = findOperation(reference, exchanged.method, path)
    if (exchanged.response.status === 405) return
    if (operation === undefined) expect([403, 404, 421, 429]).toContain(exchanged.response.status)
    else checkBody(operation, exchanged)
  }
}

function checkEveryAnswer({ method, response, text }: Exchanged): void {
  const names = [...response.headers.keys()]
  expect(response.headers.get('x-request-id')).toMatch(/^\S+$/)
  expect(names.filter((name) => name.startsWith('access-control-'))).toEqual([])
  if (method === 'HEAD') expect(text).toBe('')
}

function checkJson({ method, response, text }: Exchanged): void {
  const { status, headers } = response
  expect(status < 300 || status >= 400).toBe(true)
  expect(headers.get('location')).toBeNull()
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(headers.get('cache-control')).toBe('no-store')
  if (status === 401) expect(headers.get('www-authenticate')).toBe('Bearer')
  if (status === 405) expect(headers.get('allow')).toMatch(/^[A-Z]+(, [A-Z]+)*$/)
  if (status === 429 || status === 503) expect(headers.get('retry-after')).toMatch(/^([1-9]|[1-5]\d|60)$/)
  if (status >= 400 && method !== 'HEAD') expect(JSON.parse(text)).toEqual(hasError())
}

function hasError() {
  return expect.objectContaining({ error: expect.stringMatching(/\S/) })
}

function createValidators({ components }: Reference): (schema: Schema) => ValidateFunction {
  const ajv = new Ajv({ allErrors: true })
  ajv.addVocabulary(['components', 'example'])
  formats.default.default(ajv)
  const validators = new Map<string, ValidateFunction>()
  return (schema) => {
    const key = JSON.stringify(schema)
    const validate = validators.get(key) ?? ajv.compile({ ...schema, components })
    validators.set(key, validate)
    return validate
  }
}

/** Repeats logic of the server, so that the check does not depend on the code under test. */
function plainPath(path: string, basePath: string): string {
  const plain = path
    .replace(/^https?:\/\/[^/]+/, '')
    .replace(/\?.*$/s, '')
    .replace(/\/+/g, '/')
    .replace(/(?<=.)\/$/, '')
  const own = basePath !== '' && plain.startsWith(basePath) ? plain.slice(basePath.length) || '/' : plain
  return UNLISTED.has(own) || PREVIOUS.test(own) || LISTS.test(own) ? own : own.replace(/\.json$/, '')
}

/** Paths of the previous version, in any language or none. */
const PREVIOUS = /^(\/[a-z]{2}(-[A-Za-z]{2,4})?)?(?=\/[pfr](\/.*)?\.json$)/

/** The list URLs of Password Pusher under `/d`, which require a language. */
const LISTS = /^\/[a-z]{2}(-[A-Za-z]{2,4})?\/d\/.*\.json$/

function isApi(path: string): boolean {
  return PREVIOUS.test(path) || LISTS.test(path) || (path.startsWith('/api') && !UNLISTED.has(path))
}

function findOperation({ paths }: Reference, method: string, path: string): Operation | undefined {
  const numbered = path.replace(/^(\/api\/oncebox\/webhooks)\/[^/]+/, '$1/{id}')
  const plain = numbered.replace(PREVIOUS, '').replace(/^\/[^/]+\/d(?=\/(?:active|expired)\.json$)/, '/p')
  const template = Object.hasOwn(paths, plain)
    ? plain
    : plain.replace(/^(.*\/(?:pushes|oncebox\/requests)|\/[pfr])\/[^/.]+/, '$1/{url_token}')
  return paths[template]?.[(method === 'HEAD' ? 'GET' : method).toLowerCase()]
}
