// False answers of an OpenID provider, or of somebody between it and a browser: none of them signs anybody
// in.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { MINUTE } from '../../../src/domain/time.ts'
import { testCertificate, testKey } from '../../support/certificate.ts'
import { createTestClock, startInstance, type TestInstance } from '../../support/instance.ts'
import {
  type Browser,
  type Claims,
  createBrowser,
  flagsFor,
  type Lies,
  type LyingProvider,
  signInBy,
  startLyingProvider,
} from '../../support/lying-provider.ts'

let provider: LyingProvider
let instance: TestInstance
let ann: Browser

beforeAll(async () => {
  provider = await startLyingProvider()
})
afterAll(() => provider.close())

beforeEach(async () => {
  instance = await startInstance({ flags: flagsFor(provider), clock: createTestClock(Date.now()) })
  ann = createBrowser(instance)
})
afterEach(async () => {
  provider.state.lies = {}
  await instance.close()
})

const seconds = Math.floor(Date.now() / 1000)
const unsigned = (header: Claims, claims: Claims) =>
  [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
const bytes = (text: string) => new TextEncoder().encode(text)

const LIES: [name: string, lies: Lies, status: number][] = [
  ['another nonce', { claims: { nonce: 'another' } }, 400],
  ['no nonce', { claims: { nonce: undefined } }, 400],
  ['another audience', { claims: { aud: 'another-client' } }, 400],
  ['two audiences, and another party authorised', { claims: { aud: ['oncebox', 'b'], azp: 'b' } }, 400],
  ['another party authorised', { claims: { azp: 'b' } }, 400],
  ['issued in two hours', { claims: { iat: seconds + 7_200, exp: seconds + 9_000 } }, 400],
  [
    'an address of the endpoint that only the token calls verified',
    { claims: { email: undefined }, userInfo: { email: 'ann@example.org', email_verified: false } },
    403,
  ],
  ['another issuer in the token', { claims: { iss: 'https://evil.example' } }, 400],
  ['another issuer in the callback', { callbackIssuer: 'https://evil.example' }, 400],
  ['another issuer in the metadata', { metadata: { issuer: 'https://evil.example' } }, 503],
  ['expired two minutes ago', { claims: { exp: seconds - 120 } }, 400],
  ['no expiry', { claims: { exp: undefined } }, 400],
  ['no subject', { claims: { sub: undefined } }, 400],
  ['a subject of 300 characters', { claims: { sub: 'x'.repeat(300) } }, 400],
  ['a NUL in the subject', { claims: { sub: 'a\0b' } }, 400],
  ['alg none', { sign: async (claims) => `${unsigned({ alg: 'none' }, claims)}.` }, 400],
  ['alg none with a signature', { sign: async (claims) => `${unsigned({ alg: 'none' }, claims)}.AAAA` }, 400],
  [
    'alg HS256 with the secret of the client',
    {
      sign: (claims) =>
        new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(bytes('a secret of the client')),
    },
    400,
  ],
  [
    'the key of somebody else',
    {
      sign: async (claims) => {
        const { privateKey } = await generateKeyPair('RS256')
        return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(privateKey)
      },
    },
    400,
  ],
  ['a token that is none', { sign: async () => 'not.a.token' }, 400],
  ['only HS256 and none', { metadata: { id_token_signing_alg_values_supported: ['HS256', 'none'] } }, 400],
  ...['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint'].flatMap((name) =>
    ['javascript:alert(1)', '/relative', 7, null].map((value): [string, Lies, number] => [
      `${value} as ${name}`,
      { metadata: { [name]: value } },
      503,
    ]),
  ),
  ['no address to sign in at', { metadata: { authorization_endpoint: undefined } }, 503],
  ['no keys', { metadata: { jwks_uri: undefined } }, 503],
  ['a text of algorithms', { metadata: { id_token_signing_alg_values_supported: 'RS256' } }, 400],
  ['6 MB of metadata', answering('/.well-known/openid-configuration', () => large()), 503],
  [
    'compressed metadata, which was not asked for',
    answering('/.well-known/openid-configuration', () => compressed()),
    503,
  ],
  ['6 MB of keys', answering('/keys', () => large()), 503],
  ['6 MB instead of a token', answering('/token', () => large()), 503],
  ['metadata elsewhere', answering('/.well-known/openid-configuration', () => elsewhere()), 503],
  ['a token elsewhere', answering('/token', () => elsewhere()), 400],
  ['keys elsewhere', answering('/keys', () => elsewhere()), 400],
  [
    'metadata that is no JSON',
    answering('/.well-known/openid-configuration', () => new Response('<html>')),
    503,
  ],
  ['a failure', answering('/token', () => new Response('', { status: 500 })), 400],
]

function answering(path: string, make: () => Response): Lies {
  return { answer: (asked) => (asked === path ? make() : undefined) }
}

const large = () => Response.json({ issuer: 'x'.repeat(6_000_000) })
const compressed = () => {
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
  return new Response(Bun.gzipSync(JSON.stringify(provider.metadata())), { headers })
}
const elsewhere = () => new Response(null, { status: 302, headers: { location: `${provider.issuer}/keys` } })

test.each(LIES)('refuses %s', async (_name, lies, status) => {
  provider.state.lies = lies
  const answer = await signInBy(provider, ann)
  expect(answer.status).toBe(status)
  expect(await ann.isSignedIn()).toBe(false)
  expect(instance.log.some((line) => line.includes('refused a sign-in by others'))).toBe(true)
  // A stranger does not learn the reason.
  expect(answer.text).not.toMatch(/JWT|nonce|aud|issuer|oauth_/i)
})

test('clocks may differ by a minute', async () => {
  provider.state.lies = { claims: { exp: seconds - 30 } }
  expect((await signInBy(provider, ann)).status).toBe(303)
})

test('keys that the provider replaces between two sign-ins are accepted at once', async () => {
  expect((await signInBy(provider, ann)).status).toBe(303)
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  const jwk = { ...(await exportJWK(publicKey)), kid: 'two', alg: 'RS256', use: 'sig' }
  const sign = (claims: JWTPayload) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'two' }).sign(privateKey)
  provider.state.lies = { sign, ...answering('/keys', () => Response.json({ keys: [jwk] })) }
  expect((await signInBy(provider, createBrowser(instance))).status).toBe(303)
  // A key that was withdrawn is not accepted any more.
  provider.state.lies = answering('/keys', () => Response.json({ keys: [jwk] }))
  expect((await signInBy(provider, createBrowser(instance))).status).toBe(400)
})

test('a provider that hangs gets a plain page after some seconds', async () => {
  provider.state.lies = { answer: () => new Promise(() => undefined) }
  const answer = await ann.get('/sign-in/oidc')
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '10'])
  expect(answer.text).toContain('Example does not answer properly now')
  provider.state.lies = {}
  expect((await ann.get('/sign-in/oidc')).status).toBe(303)
}, 20_000)

test('metadata is kept for an hour', async () => {
  const asked = () => provider.state.asked.filter((path) => path.startsWith('/.well-known')).length
  const before = asked()
  for (let n = 0; n < 3; n += 1) await ann.get('/sign-in/oidc')
  expect(asked()).toBe(before + 1)
  instance.clock.advance(61 * MINUTE)
  await ann.get('/sign-in/oidc')
  expect(asked()).toBe(before + 2)
})

describe('a callback', () => {
  test('works once, even if two arrive together', async () => {
    const { location } = await ann.get('/sign-in/oidc')
    const cookie = `oncebox_provider=${ann.cookies.get('oncebox_provider')}`
    const path = `/sign-in/oidc/callback?${provider.grant(location)}`
    const come = async () => (await instance.fetch(path, { headers: { cookie } })).status
    const statuses = await Promise.all([come(), come(), come()])
    expect(statuses.sort()).toEqual([303, 400, 400])
    expect(await come()).toBe(400)
    // The state stays used up, even with a new code.
    const other = await instance.fetch(`/sign-in/oidc/callback?${provider.grant(location)}`, {
      headers: { cookie },
    })
    expect(other.status).toBe(400)
  })

  test('is refused in another browser, with or without a sign-in of its own', async () => {
    const { location } = await ann.get('/sign-in/oidc')
    const path = `/sign-in/oidc/callback?${provider.grant(location)}`
    const eve = createBrowser(instance)
    expect((await eve.get(path)).status).toBe(400)
    await eve.get('/sign-in/oidc')
    expect((await eve.get(path)).status).toBe(400)
    expect(await eve.isSignedIn()).toBe(false)
    // The forged callback did not use up Ann's own.
    expect((await ann.get(path)).status).toBe(303)
  })

  test('of an earlier tab is refused, and leaves the sign-in of the later one', async () => {
    const [first, second] = [await ann.get('/sign-in/oidc'), await ann.get('/sign-in/oidc')]
    const come = ({ location }: { location: string }) =>
      ann.get(`/sign-in/oidc/callback?${provider.grant(location)}`)
    expect((await come(first)).status).toBe(400)
    expect((await come(second)).status).toBe(303)
    expect(ann.cookies.has('oncebox_provider')).toBe(false)
  })

  test('is refused after ten minutes', async () => {
    const { location } = await ann.get('/sign-in/oidc')
    instance.clock.advance(10 * MINUTE)
    expect((await ann.get(`/sign-in/oidc/callback?${provider.grant(location)}`)).status).toBe(400)
  })

  test('is refused with a changed cookie, no state, or two states', async () => {
    const { location } = await ann.get('/sign-in/oidc')
    const kept = ann.cookies.get('oncebox_provider') ?? ''
    const query = provider.grant(location)
    for (const cookie of [`${kept.slice(0, -2)}AA`, 'x', '']) {
      const headers = { cookie: `oncebox_provider=${cookie}` }
      expect((await instance.fetch(`/sign-in/oidc/callback?${query}`, { headers })).status).toBe(400)
    }
    const headers = { cookie: `oncebox_provider=${kept}` }
    const without = new URLSearchParams(query)
    without.delete('state')
    expect((await instance.fetch(`/sign-in/oidc/callback?${without}`, { headers })).status).toBe(400)
    const twice = `${query}&state=${query.get('state')}`
    expect((await instance.fetch(`/sign-in/oidc/callback?${twice}`, { headers })).status).toBe(400)
  })

  test('that reports a refusal by the person shows how to try again', async () => {
    const { location } = await ann.get('/sign-in/oidc')
    const state = new URL(location).searchParams.get('state')
    const query = `error=access_denied&error_description=of-the-provider&state=${state}&iss=${provider.issuer}`
    const answer = await ann.get(`/sign-in/oidc/callback?${query}`)
    expect([answer.status, answer.text.includes('of-the-provider')]).toEqual([400, false])
    expect(answer.text).toContain('href="/sign-in"')
  })
})

test('a code that was stolen with another challenge is refused', async () => {
  const { location } = await ann.get('/sign-in/oidc')
  const other = createBrowser(instance)
  const theirs = new URL((await other.get('/sign-in/oidc')).location)
  const stolen = provider.grant(location)
  stolen.set('state', theirs.searchParams.get('state') ?? '')
  expect((await other.get(`/sign-in/oidc/callback?${stolen}`)).status).toBe(400)
})

test('the callback of another Host is not asked for', async () => {
  const answer = await instance.fetch('/sign-in/oidc', { headers: { host: 'evil.example' } })
  expect(answer.status).toBe(421)
})

describe('a logout token', () => {
  const send = async (token: string, type = 'application/x-www-form-urlencoded') => {
    const body = new URLSearchParams({ logout_token: token }).toString()
    const headers = { 'content-type': type }
    return (await instance.fetch('/sign-in/oidc/logout', { method: 'POST', headers, body })).status
  }
  const EVENT = 'http://schemas.openid.net/event/backchannel-logout'

  const FORGED: [string, Claims, Claims?][] = [
    ['another issuer', { iss: 'https://evil.example' }],
    ['another audience', { aud: 'another-client' }],
    ['no audience', { aud: undefined }],
    ['no iat', { iat: undefined }],
    ['an old iat', { iat: seconds - 3_600 }],
    ['an iat of tomorrow', { iat: seconds + 86_400 }],
    ['an exp in the past', { exp: seconds - 120 }],
    ['no jti', { jti: undefined }],
    ['an empty jti', { jti: '' }],
    ['a number as jti', { jti: 7 }],
    ['no events', { events: undefined }],
    ['a list of events', { events: [EVENT] }],
    ['another event', { events: { 'https://example.org/other': {} } }],
    ['an event that is no object', { events: { [EVENT]: true } }],
    ['a nonce', { nonce: 'one' }],
    ['a nonce of null', { nonce: null }],
    ['neither sub nor sid', { sub: undefined }],
    ['a number as sub', { sub: 7 }],
    ['an empty sid', { sid: '' }],
  ]

  test.each(FORGED)('with %s ends no session', async (_name, claims) => {
    await signInBy(provider, ann)
    expect(await send(await provider.logoutToken(claims))).toBe(400)
    expect(await ann.isSignedIn()).toBe(true)
  })

  test('with another signature, algorithm or form ends no session', async () => {
    await signInBy(provider, ann)
    const good = await provider.logoutToken()
    const claims = JSON.parse(Buffer.from(good.split('.')[1] ?? '', 'base64url').toString())
    const { privateKey } = await generateKeyPair('RS256')
    const tokens = [
      `${good.slice(0, -4)}AAAA`,
      `${unsigned({ alg: 'none' }, claims)}.`,
      await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(bytes('a secret of the client')),
      await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(privateKey),
      await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'two' }).sign(privateKey),
      '',
      'x',
      'x'.repeat(70_000),
    ]
    for (const token of tokens) expect(await send(token)).toBe(400)
    expect(await send(good, 'application/json')).toBe(400)
    expect(await ann.isSignedIn()).toBe(true)
    expect((await instance.fetch('/sign-in/oidc/logout')).status).toBe(405)
  })

  test('is no ID token', async () => {
    await signInBy(provider, ann)
    const claims = { iss: provider.issuer, aud: 'oncebox', sub: 'sub-ann', iat: seconds, exp: seconds + 300 }
    expect(await send(await provider.sign({ ...claims, jti: 'x' }))).toBe(400)
    expect(await ann.isSignedIn()).toBe(true)
  })

  test('ends all sessions of a person, or one of the provider, and works once', async () => {
    const [one, two, eve] = [createBrowser(instance), createBrowser(instance), createBrowser(instance)]
    await signInBy(provider, one, { claims: { sid: 'sid-1' } })
    await signInBy(provider, two, { claims: { sid: 'sid-2' } })
    await signInBy(provider, eve, { claims: { sub: 'sub-eve', email: 'eve@example.org', sid: 'sid-3' } })
    const open = async () => [await one.isSignedIn(), await two.isSignedIn(), await eve.isSignedIn()]
    const ofSession = await provider.logoutToken({ sid: 'sid-1', sub: undefined })
    expect(await send(ofSession)).toBe(200)
    expect(await open()).toEqual([false, true, true])
    await signInBy(provider, one, { claims: { sid: 'sid-1' } })
    expect(await send(ofSession)).toBe(400)
    expect(await open()).toEqual([true, true, true])
    // This session belongs to another person.
    expect(await send(await provider.logoutToken({ sid: 'sid-3' }))).toBe(200)
    expect(await open()).toEqual([true, true, true])
    expect(await send(await provider.logoutToken())).toBe(200)
    expect(await open()).toEqual([false, false, true])
  })
})

test('without a provider there is no such page', async () => {
  const plain = await startInstance()
  try {
    for (const path of ['/sign-in/oidc', '/sign-in/oidc/callback'])
      expect((await plain.fetch(path)).status).toBe(404)
    expect(
      (await plain.fetch('/sign-in/oidc/logout', { method: 'POST', body: 'logout_token=x' })).status,
    ).toBe(404)
  } finally {
    await plain.close()
  }
})

test('a provider with a certificate of its own authority needs --oidc-ca', async () => {
  const own = await startLyingProvider({ tls: { cert: testCertificate, key: testKey } })
  const folder = mkdtempSync(join(tmpdir(), 'oncebox-ca-'))
  const ca = join(folder, 'ca.pem')
  writeFileSync(ca, testCertificate)
  const statusWith = async (flags: Record<string, string>) => {
    const server = await startInstance({
      flags: { ...flagsFor(own), ...flags },
      clock: createTestClock(Date.now()),
    })
    try {
      return (await signInBy(own, createBrowser(server))).status
    } finally {
      await server.close()
    }
  }
  try {
    expect(await statusWith({})).toBe(503)
    await expect(statusWith({ 'oidc-ca': join(folder, 'none.pem') })).rejects.toThrow('a readable file')
    writeFileSync(join(folder, 'text.pem'), 'no certificate')
    await expect(statusWith({ 'oidc-ca': join(folder, 'text.pem') })).rejects.toThrow('certificates in PEM')
    expect(await statusWith({ 'oidc-ca': ca })).toBe(303)
  } finally {
    await own.close()
    rmSync(folder, { recursive: true })
  }
})
