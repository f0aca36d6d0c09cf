// The security headers of every response.

import { afterEach, expect, test } from 'bun:test'
import { startInstance, type TestInstance } from '../support/instance.ts'

let instance: TestInstance
afterEach(() => instance.close())

const PATHS = [
  ...['/', '/sign-in', '/nowhere', '/p/none', '/api', '/up', '/p/%ff', '/pushes', '/f/abc'],
  ...[
    '/api/v2/version',
    '/api/v2/pushes/none',
    '/api/v2/openapi.json',
    '/api/v2/docs',
    '/p/none.json',
    '/d/none',
  ],
]

async function headersOf(path: string, init: { method?: string; headers?: Record<string, string> } = {}) {
  const { headers } = await instance.fetch(path, { redirect: 'manual', ...init })
  return {
    opener: headers.get('cross-origin-opener-policy'),
    resource: headers.get('cross-origin-resource-policy'),
    transport: headers.get('strict-transport-security'),
  }
}

test('another site can neither reach our windows nor embed any response', async () => {
  instance = await startInstance()
  const expected = { opener: 'same-origin', resource: 'same-origin', transport: null }
  for (const path of PATHS) expect({ path, ...(await headersOf(path)) }).toEqual({ path, ...expected })
  const asset = /\/assets\/[^"]+/.exec(await (await instance.fetch('/')).text())?.[0] ?? ''
  expect(await headersOf(asset)).toEqual(expected)
  expect(await headersOf('/', { method: 'HEAD' })).toEqual(expected)
  expect(await headersOf('/', { method: 'PUT' })).toEqual(expected)
  expect(await headersOf('/', { headers: { host: 'evil.example' } })).toEqual(expected)
})

test.each<[string, string | null]>([
  ['https://once.example', 'max-age=31536000'],
  ['https://once.example:8443/box', 'max-age=31536000'],
  ['http://once.example', null],
  // HSTS would apply to every port of the machine.
  ['https://localhost:8443', null],
])('under %s, Strict-Transport-Security is %p', async (baseUrl, transport) => {
  instance = await startInstance({ flags: { 'base-url': baseUrl } })
  for (const path of PATHS) expect((await headersOf(path)).transport).toBe(transport)
})
