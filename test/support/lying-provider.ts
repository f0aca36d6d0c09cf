// An OpenID provider on loopback, which is honest unless a test makes it lie.

import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import type { Init, startInstance } from './instance.ts'

export const CLIENT = 'oncebox'
const SECRET = 'a secret of the client'

export type Claims = Record<string, unknown>

/** The lies that replace the truth. */
export type Lies = {
  /** Claims of the ID token; undefined removes one. */
  claims?: Claims
  /** Claims of the userinfo endpoint. */
  userInfo?: Claims
  /** Changes the metadata. */
  metadata?: Claims
  /** Answers these paths itself. */
  answer?: (path: string) => Response | Promise<Response> | undefined
  /** Makes the ID token. */
  sign?: (claims: JWTPayload) => Promise<string>
  /** The `iss` of the callback. */
  callbackIssuer?: string
}

export type LyingProvider = Awaited<ReturnType<typeof startLyingProvider>>

/** `tls`: its certificate, for https. */
export async function startLyingProvider({
  tls = null,
}: {
  tls?: { cert: string; key: string } | null
} = {}) {
  const keys = await generateKeyPair('RS256', { extractable: true })
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }
  const state = { lies: {} as Lies, asked: [] as string[] }
  const codes = new Map<string, { claims: Claims; challenge: string }>()

  async function sign(claims: JWTPayload, header: Claims = {}): Promise<string> {
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: 'one', ...header })
      .sign(keys.privateKey)
  }

  async function answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    state.asked.push(pathname)
    const own = await state.lies.answer?.(pathname)
    if (own !== undefined) return own
    if (pathname === '/.well-known/openid-configuration') return Response.json(metadata())
    if (pathname === '/keys') return Response.json({ keys: [jwk] })
    if (pathname === '/userinfo') return Response.json({ sub: 'sub-ann', ...state.lies.userInfo })
    if (pathname === '/token') return redeem(new URLSearchParams(await request.text()))
    return new Response('', { status: 404 })
  }

  async function redeem(form: URLSearchParams): Promise<Response> {
    const code = form.get('code') ?? ''
    const found = codes.get(code)
    codes.delete(code)
    const hash = new Bun.CryptoHasher('sha256').update(form.get('code_verifier') ?? '').digest('base64url')
    if (found === undefined || hash !== found.challenge)
      return Response.json({ error: 'invalid_grant' }, { status: 400 })
    const claims = found.claims as JWTPayload
    const token = await (state.lies.sign ?? sign)(claims)
    return Response.json({ access_token: 'access', token_type: 'Bearer', expires_in: 60, id_token: token })
  }

  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    fetch: answer,
    ...(tls && { tls }),
  })
  const issuer = `${tls === null ? 'http' : 'https'}://127.0.0.1:${server.port}`
  const metadata = () => ({
    ...{ issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` },
    ...{ jwks_uri: `${issuer}/keys`, userinfo_endpoint: `${issuer}/userinfo` },
    response_types_supported: ['code'],
    authorization_response_iss_parameter_supported: true,
    id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
    ...state.lies.metadata,
  })

  /** Signs a person in, as if they had typed their password at `url`. Returns the query of the callback. */
  function grant(url: string, claims: Claims = {}): URLSearchParams {
    const asked = new URL(url).searchParams
    const code = crypto.randomUUID()
    const seconds = Math.floor(Date.now() / 1000)
    const all: Claims = {
      ...{ iss: issuer, aud: CLIENT, sub: 'sub-ann', iat: seconds, exp: seconds + 300 },
      ...{ nonce: asked.get('nonce'), email: 'ann@example.org', email_verified: true, auth_time: seconds },
      ...claims,
      ...state.lies.claims,
    }
    const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
    codes.set(code, { claims: given, challenge: asked.get('code_challenge') ?? '' })
    return new URLSearchParams({
      code,
      state: asked.get('state') ?? '',
      iss: state.lies.callbackIssuer ?? issuer,
    })
  }

  /** Makes a logout token. */
  function logoutToken(claims: Claims = {}, header: Claims = {}): Promise<string> {
    const all: Claims = {
      ...{ iss: issuer, aud: CLIENT, iat: Math.floor(Date.now() / 1000), jti: crypto.randomUUID() },
      ...{ events: { 'http://schemas.openid.net/event/backchannel-logout': {} }, sub: 'sub-ann' },
      ...claims,
    }
    const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
    return sign(given as JWTPayload, header)
  }

  return { issuer, state, metadata, sign, grant, logoutToken, close: () => server.stop(true) }
}

/** The flags of a server that uses this provider. */
export function flagsFor(provider: Pick<LyingProvider, 'issuer'>): Record<string, string> {
  return {
    'oidc-issuer': provider.issuer,
    'oidc-client-id': CLIENT,
    'oidc-client-secret': SECRET,
    'oidc-name': 'Example',
    'oidc-signup': 'yes',
    'base-url': 'http://localhost',
  }
}

export type Browser = ReturnType<typeof createBrowser>

type Fetch = Awaited<ReturnType<typeof startInstance>>['fetch']

/** A browser with cookies, at the pages of an instance. */
export function createBrowser({ fetch }: { fetch: Fetch }) {
  const cookies = new Map<string, string>()

  async function get(path: string, init: Init = {}) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...(cookie === '' ? {} : { cookie }), ...(init.headers as Record<string, string>) }
    const response = await fetch(path, { ...init, headers })
    for (const set of response.headers.getSetCookie()) {
      const [pair = ''] = set.split(';', 1)
      const [name = '', value = ''] = pair.split('=', 2)
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    return {
      status: response.status,
      headers: response.headers,
      location: response.headers.get('location') ?? '',
      text: await response.text(),
    }
  }

  const hidden = (text: string, name: string) =>
    new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? ''

  /** Sends a form from a page of the server, with the token of its session. */
  async function post(path: string, fields: Record<string, string>) {
    const page = cookies.has('oncebox_session') ? await get('/account') : null
    const shown = page?.status === 303 ? await get(page.location) : page
    const form = hidden(shown?.text ?? '', 'form')
    const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: 'http://localhost' }
    return get(path, { method: 'POST', headers, body: new URLSearchParams({ form, ...fields }).toString() })
  }

  return { cookies, get, post, hidden, isSignedIn: async () => (await get('/pushes')).status === 200 }
}

/** Signs in at the provider with these claims, and returns to the server. */
export async function signInBy(
  provider: Pick<LyingProvider, 'grant' | 'issuer'>,
  browser: Browser,
  { claims = {}, path = '/sign-in/oidc' }: { claims?: Claims; path?: string } = {},
) {
  const started = await browser.get(path)
  const { location } = started
  if (!location.startsWith(provider.issuer)) return started
  return browser.get(`/sign-in/oidc/callback?${provider.grant(location, claims)}`)
}
