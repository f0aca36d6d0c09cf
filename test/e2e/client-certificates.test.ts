// Client commands and servers with TLS: which certificates are trusted.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runBinary } from '../support/binary.ts'
import { testCertificate, testKey } from '../support/certificate.ts'

let server: ReturnType<typeof Bun.serve>
let url: string
let folder: string
let requests = 0

beforeAll(() => {
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: { cert: testCertificate, key: testKey },
    fetch: (request) => {
      requests += 1
      const { pathname } = new URL(request.url)
      if (pathname.endsWith('/version')) return Response.json({ application_version: '3.0.0', limits: {} })
      if (pathname.endsWith('/active')) return Response.json([])
      if (pathname === '/file') return new Response('content')
      const files = [{ filename: 'a', size: 7, url: `${url}/file` }]
      return Response.json({ url_token: 'abcdefgh', payload: 'secret', files, expired: false })
    },
  })
  url = `https://127.0.0.1:${server.port}`
})
afterAll(() => server.stop(true))
beforeEach(() => {
  requests = 0
  folder = mkdtempSync(join(tmpdir(), 'oncebox-tls-'))
  writeFileSync(path('ca.pem'), `a comment\n${testCertificate}`)
  writeFileSync(path('ca.der'), new X509Certificate(testCertificate).raw)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const path = (name: string) => join(folder, name)

async function run(argv: string[], env: Record<string, string> = {}) {
  const { stdout, stderr, code } = await runBinary(argv, { cwd: folder, env: { HOME: folder, ...env } })
  return { out: stdout, err: stderr, code }
}

const get = (env?: Record<string, string>, ...flags: string[]) =>
  run(['get', `${url}/p/abcdefgh`, '--output', 'in/', ...flags], env)

test('an unknown certificate is refused, whatever the environment says, and the message names the remedy', async () => {
  for (const env of [{}, { NODE_TLS_REJECT_UNAUTHORIZED: '0' }]) {
    const refused = await get(env)
    expect(refused).toMatchObject({ code: 5, out: '' })
    expect(refused.err).toContain('--cacert FILE')
    expect((await run(['login', url, '--anonymous'], env)).code).toBe(5)
  }
  expect(requests).toBe(0)
}, 600_000)

test('--cacert and ONCEBOX_CACERT add trusted certificates, for downloads too', async () => {
  for (const flags of [['--cacert', 'ca.pem'], ['--cacert=ca.der']]) {
    expect(await get({}, ...flags)).toMatchObject({ code: 0, out: 'secret' })
  }
  expect(await get({ ONCEBOX_CACERT: path('ca.pem') })).toMatchObject({ code: 0, out: 'secret' })
  expect(readFileSync(path('in/a (3)'), 'utf8')).toBe('content')
}, 600_000)

test('a certificate is not trusted for another name', async () => {
  const refused = await run(['get', `https://localhost:${server.port}/p/abcdefgh`, '--cacert', 'ca.pem'])
  expect(refused.code).toBe(5)
  expect(refused.err).toContain('its certificate is for another name')
}, 600_000)

test('a login remembers the certificate, for its own server alone', async () => {
  expect((await run(['login', url, '--anonymous', '--cacert', 'ca.pem'])).code).toBe(0)
  rmSync(path('ca.pem'))
  expect(await get()).toMatchObject({ code: 0, out: 'secret' })
  const other = await run(['get', `https://localhost:${server.port}/p/abcdefgh`])
  expect(other.code).toBe(5)
}, 600_000)

test('a file without certificates is reported before any request', async () => {
  writeFileSync(path('key.pem'), testKey)
  const refused = await get({ ONCEBOX_CACERT: path('key.pem') })
  expect(refused.code).toBe(2)
  expect(refused.err).toContain('ONCEBOX_CACERT')
  expect(refused.err).toContain('must hold certificates')
  expect(requests).toBe(0)
}, 600_000)
