// A client and a server with an authority of its own: compared once, pinned, and refused when it changes.

import { afterEach, expect, test } from 'bun:test'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readCertificate } from '../../src/crypto/certificate-facts.ts'
import { makeAuthority, makeLeaf } from '../../src/crypto/certificates.ts'
import { createStage, runBinary } from '../support/binary.ts'
import { testCertificate, testKey } from '../support/certificate.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'

const stage = createStage()
afterEach(stage.clear)

const OTHER = Array.from({ length: 32 }, () => 'AB').join(':')

async function startWithAuthority() {
  const server = await stage.start({ flags: ['--host', '127.0.0.1', '--tls', 'auto'] })
  const authority = readFileSync(join(server.dataDir, 'tls-authority.pem'), 'utf8')
  return { ...server, fingerprint: readCertificate(authority).fingerprint }
}

function createHome() {
  const home = stage.folder()
  return (args: string[], input = '') =>
    runBinary(args, { input, env: { HOME: home, XDG_CONFIG_HOME: home } })
}

test('a login without a terminal needs the fingerprint, and pins that authority', async () => {
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
  // No token was sent before the user compared the authority.
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

test('a pinned server that presents another authority gets no request', async () => {
  const server = await startWithAuthority()
  // Both servers use the same address, which no other program can take in between.
  const wire = await startFaultProxy(server.port)
  const run = createHome()
  const login = [
    'login',
    `https://127.0.0.1:${wire.port}`,
    '--anonymous',
    '--ca-fingerprint',
    server.fingerprint,
  ]
  expect(await run(login)).toMatchObject({ code: 0 })
  await server.end()
  const impostor = await startWithAuthority()
  wire.lead(impostor.port)
  const refused = await run(['push', '-'], 'a secret')
  expect(refused.code).not.toBe(0)
  expect(refused.stderr).toContain('is not from the authority that you compared at login')
  expect(impostor.stderr()).not.toContain('POST')
  await wire.close()
})

test('"trust --print" prints the authority of this or another machine, without its key', async () => {
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

/**
 * Runs `oncebox trust` against a server with this certificate, giving the authority's fingerprint. Returns
 * its message.
 */
async function trustOf(shown: { certificate: string; key: string }, fingerprint: string) {
  const tls = { cert: shown.certificate, key: shown.key }
  const hostile = Bun.serve({ port: 0, hostname: '127.0.0.1', tls, fetch: () => new Response() })
  const url = `https://127.0.0.1:${hostile.port}`
  const answer = await createHome()(['trust', url, '--fingerprint', fingerprint, '--print'])
  await hostile.stop(true)
  return answer
}

test('a self-signed certificate that is no authority is not trusted', async () => {
  const shown = { certificate: testCertificate, key: testKey }
  const { code, stderr } = await trustOf(shown, readCertificate(testCertificate).fingerprint)
  expect(code).toBe(1)
  expect(stderr).toContain('no authority of its own')
})

async function trustNames(names: string[]) {
  const validity = { from: Date.now() - 1000, until: Date.now() + 3_600_000 }
  const authority = await makeAuthority({ commonName: 'x', names, validity })
  const { certificate, key } = await makeLeaf(authority, { names: ['localhost'], addresses: [], validity })
  const chain = `${certificate.trim()}\n${authority.certificate.trim()}\n`
  return trustOf({ certificate: chain, key }, readCertificate(authority.certificate).fingerprint)
}

test('an authority that can vouch for foreign names or for all names is never trusted', async () => {
  for (const name of ['com', 'bank.example', 'local']) {
    const { code, stdout, stderr } = await trustNames(['localhost', name])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain(`could vouch for ${name} and`)
  }
  const unlimited = await trustNames([''])
  expect(unlimited.code).toBe(1)
  expect(unlimited.stderr).toContain('every name on the internet')
  expect((await trustNames(['localhost', 'nas.lan'])).code).toBe(0)
})

test('without an authority on this machine, the message says how to create one', async () => {
  const { code, stderr } = await runBinary(['trust', '--print', '--data-dir', stage.folder()])
  expect(code).toBe(1)
  expect(stderr).toContain('oncebox serve --lan')
})
