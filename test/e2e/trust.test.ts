// A client that meets a server with an authority of its own: compared once, pinned, and refused when it changes.

import { afterEach, expect, test } from 'bun:test'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readCertificate } from '../../src/crypto/certificate-facts.ts'
import { createStage, runBinary } from '../support/binary.ts'
import { testCertificate, testKey } from '../support/certificate.ts'

const stage = createStage()
afterEach(stage.clear)

const OTHER = Array.from({ length: 32 }, () => 'AB').join(':')

async function startWithAuthority(port = '0') {
  const server = await stage.start({ flags: ['--host', '127.0.0.1', '--tls', 'auto', '--port', port] })
  const authority = readFileSync(join(server.dataDir, 'tls-authority.pem'), 'utf8')
  return { ...server, fingerprint: readCertificate(authority).fingerprint }
}

function createHome() {
  const home = stage.folder()
  return (args: string[], input = '') =>
    runBinary(args, { input, env: { HOME: home, XDG_CONFIG_HOME: home } })
}

test('a login without a terminal needs the fingerprint, and pins what it names', async () => {
  const server = await startWithAuthority()
  await server.command(['user', 'add', 'ann@example.org', '--password-stdin'], 'correct horse battery')
  const token =
    (await server.command(['token', 'create', 'ann@example.org'])).stdout.trim().split(/\s+/).at(-1) ?? ''
  const run = createHome()
  const login = ['login', server.url, '--token-stdin']

  const unasked = await run(login, token)
  expect(unasked.code).not.toBe(0)
  expect(unasked.stderr).toContain('--ca-fingerprint')
  const wrong = await run([...login, '--ca-fingerprint', OTHER], token)
  expect(wrong.code).not.toBe(0)
  expect(wrong.stderr).toContain('another fingerprint')
  // No token was sent before the authority was compared.
  expect(server.stderr()).not.toContain('/api/v2/pushes')

  const right = await run(
    [...login, '--ca-fingerprint', server.fingerprint.toLowerCase().replaceAll(':', '')],
    token,
  )
  expect(right.stderr).toContain('the token works')
  expect((await run(['list'])).code).toBe(0)
  const { stdout } = await run(['push', '-'], 'a secret')
  expect((await run(['get', /https:\S+/.exec(stdout)?.[0] ?? ''])).stdout).toContain('a secret')
})

test('a pinned server that comes back with another authority gets nothing', async () => {
  const server = await startWithAuthority()
  const run = createHome()
  await run(['login', server.url, '--anonymous', '--ca-fingerprint', server.fingerprint])
  await server.end()
  const impostor = await startWithAuthority(String(server.port))
  const refused = await run(['push', '-'], 'a secret')
  expect(refused.code).not.toBe(0)
  expect(refused.stderr).toContain('is not from the authority that you compared at login')
  expect(impostor.stderr()).not.toContain('POST')
})

test('"trust --print" gives the authority of this machine and of another, without a key', async () => {
  const server = await startWithAuthority()
  const own = await server.command(['trust', '--print'])
  expect(readCertificate(own.stdout).fingerprint).toBe(server.fingerprint)
  expect(own.stdout).not.toContain('PRIVATE')
  const run = createHome()
  const other = await run(['trust', server.url, '--fingerprint', server.fingerprint, '--print'])
  expect(other.stdout).toBe(own.stdout)
  expect((await run(['trust', server.url, '--print'])).stderr).toContain('--fingerprint')
  expect((await run(['trust', server.url, '--fingerprint', 'AB:CD'])).code).toBe(2)
  expect(statSync(join(server.dataDir, 'tls-authority.pem')).mode & 0o777).toBe(0o600)
})

test('a certificate that signed itself is no authority to trust', async () => {
  const hostile = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: { cert: testCertificate, key: testKey },
    fetch: () => new Response(testCertificate),
  })
  const { fingerprint } = readCertificate(testCertificate)
  const url = `https://127.0.0.1:${hostile.port}`
  const { code, stderr } = await createHome()(['trust', url, '--fingerprint', fingerprint, '--print'])
  expect(code).toBe(1)
  expect(stderr).toContain('no authority of its own')
  await hostile.stop(true)
})

test('a machine without an authority says how to make one', async () => {
  const { code, stderr } = await runBinary(['trust', '--print', '--data-dir', stage.folder()])
  expect(code).toBe(1)
  expect(stderr).toContain('oncebox serve --lan')
})
