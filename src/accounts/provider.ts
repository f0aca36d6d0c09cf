// Talks to the OpenID provider: the authorization URL, the claims of a person, and logout tokens. Loaded and
// connected at first use. Every fault of an answer is a ProviderError with a reason for the log.

import { readFileSync } from 'node:fs'
import { createRemoteJWKSet, customFetch as jwksFetch, jwtVerify } from 'jose'
import * as client from 'openid-client'
import { CLOCK_SKEW, type ProviderClaims } from '../domain/identity.ts'
import { HOUR, MINUTE, type Now, SECOND } from '../domain/time.ts'
import { ProviderError } from './provider-error.ts'
import { createProviderFetch, TIMEOUT_MS } from './provider-fetch.ts'

export type ProviderSettings = {
  issuer: string
  clientId: string
  clientSecret: string | null
  /** A file of certificates in PEM; null for the system's authorities. */
  ca: string | null
  /** The callback below the base URL, as the provider knows it. */
  redirectUri: string
  /** A claim that is needed beside the address; null for none. */
  groupClaim: string | null
}

/** Ties the provider's answer to one sign-in in one browser. */
export type SignInSecrets = { state: string; nonce: string; verifier: string }

type LogoutClaims = {
  issuer: string
  sid: string | null
  subject: string | null
  jti: string
  /** When the token expires and cannot be replayed any more, in milliseconds since 1970. */
  lapsesAt: number
}

export type Provider = ReturnType<typeof createProvider>

const METADATA_KEPT = HOUR
/** The maximum age of a logout token. */
const LOGOUT_LIFETIME = 10 * MINUTE
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout'
/** Asymmetric algorithms alone: `none` proves nothing, and HS* is signed with the secret of this server. */
const ASYMMETRIC = /^(RS|PS|ES)(256|384|512)$|^EdDSA$|^Ed25519$/
const MAX_SUBJECT = 255

const REQUIRED_URLS = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const

type KnownProvider = {
  /** Makes a configuration that fetches the keys anew, so that replaced ones count at once. */
  configure: () => client.Configuration
  issuer: string
  algorithms: string[]
  /** The keys that sign logout tokens. */
  keys: ReturnType<typeof createRemoteJWKSet>
  until: number
}

export function createProvider(settings: ProviderSettings, systemNow: Now) {
  const { issuer, clientId, clientSecret, redirectUri, groupClaim } = settings
  let known: KnownProvider | null = null
  let finding: Promise<KnownProvider> | null = null

  /** Returns the provider's metadata, not older than an hour. Concurrent calls share one request. */
  async function find(): Promise<KnownProvider> {
    if (known !== null && systemNow() < known.until) return known
    finding ??= discover().finally(() => {
      finding = null
    })
    known = await finding
    return known
  }

  async function discover(): Promise<KnownProvider> {
    const fetch = createProviderFetch(readAuthority(settings.ca))
    const isPlain = issuer.startsWith('http:')
    const execute = isPlain ? [client.allowInsecureRequests] : []
    const options = { execute, [client.customFetch]: fetch, timeout: TIMEOUT_MS / SECOND }
    const found = await client
      .discovery(new URL(issuer), clientId, undefined, client.None(), options)
      .catch((cause) => fail('provider_unreachable', cause))
    const { supportsPKCE: _, ...metadata } = found.serverMetadata()
    const offered: unknown = metadata.id_token_signing_alg_values_supported ?? ['RS256']
    const algorithms = Array.isArray(offered) ? offered.filter((algorithm) => ASYMMETRIC.test(algorithm)) : []
    const isOptional = metadata.userinfo_endpoint === undefined
    for (const name of isOptional ? REQUIRED_URLS : [...REQUIRED_URLS, 'userinfo_endpoint' as const])
      requireUrl(metadata[name], { name, allowsPlain: isPlain })
    const configure = () => {
      const config = new client.Configuration(
        { ...metadata, id_token_signing_alg_values_supported: algorithms },
        clientId,
        { [client.clockTolerance]: CLOCK_SKEW / SECOND },
        authenticationFor(metadata, clientSecret),
      )
      config[client.customFetch] = fetch
      config.timeout = TIMEOUT_MS / SECOND
      if (isPlain) client.allowInsecureRequests(config)
      // Verify the signature of the ID token too. By default the library trusts TLS for a token that it has
      // fetched itself.
      client.enableNonRepudiationChecks(config)
      return config
    }
    const keysOptions = { [jwksFetch]: fetch, cooldownDuration: SECOND }
    const keys = createRemoteJWKSet(new URL(metadata.jwks_uri ?? ''), keysOptions)
    return { configure, issuer: metadata.issuer, algorithms, keys, until: systemNow() + METADATA_KEPT }
  }

  return {
    newSecrets: (): SignInSecrets => ({
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
    }),

    /** Returns where to send the browser. `isAsking`: the provider must authenticate the person again. */
    async authorizationUrl(
      { state, nonce, verifier }: SignInSecrets,
      { isAsking }: { isAsking: boolean },
    ): Promise<string> {
      const config = (await find()).configure()
      const parameters = {
        ...{ redirect_uri: redirectUri, scope: scopeFor(config, groupClaim), state, nonce },
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...(isAsking ? { max_age: '0' } : {}),
      }
      return client.buildAuthorizationUrl(config, parameters).href
    },

    /** Exchanges the code of a callback for the claims of a person. `query`: that of the callback. */
    async redeem(query: string, { state, nonce, verifier }: SignInSecrets): Promise<ProviderClaims> {
      const { configure, issuer: expected } = await find()
      const config = configure()
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier }
      const tokens = await client
        .authorizationCodeGrant(config, new URL(`${redirectUri}?${query}`), checks)
        .catch((cause) => fail(reasonOf(cause), cause))
      const claims = tokens.claims()
      if (claims === undefined) throw new ProviderError('id_token_missing')
      // Accept the issuers of all tenants of Entra.
      if (claims.iss !== expected) throw new ProviderError('issuer_mismatch')
      if (claims.azp !== undefined && claims.azp !== clientId) throw new ProviderError('another_client')
      if (claims.iat * SECOND > systemNow() + CLOCK_SKEW) throw new ProviderError('issued_in_future')
      if (claims.sub.length > MAX_SUBJECT || claims.sub.includes('\0'))
        throw new ProviderError('subject_malformed')
      if (!needsUserInfo(config, claims, groupClaim)) return claims
      const more = await client
        .fetchUserInfo(config, tokens.access_token, claims.sub)
        .catch((cause) => fail('userinfo_refused', cause))
      // Take the flags from the source of the address, because they say whether that address is verified.
      const { email_verified, hd, xms_edov } = claims.email === undefined ? more : claims
      return { ...more, ...claims, email_verified, hd, xms_edov }
    },

    /** Checks a logout token (OpenID Connect Back-Channel Logout 1.0, 2.6), except that it is new. */
    async readLogout(token: string): Promise<LogoutClaims> {
      const { issuer: expected, algorithms, keys } = await find()
      const { payload } = await jwtVerify(token, keys, {
        ...{ issuer: expected, audience: clientId, algorithms },
        ...{ clockTolerance: CLOCK_SKEW / SECOND, maxTokenAge: LOGOUT_LIFETIME / SECOND },
        ...{ requiredClaims: ['iat', 'jti', 'events'], currentDate: new Date(systemNow()) },
      }).catch((cause) => fail('logout_token_refused', cause))
      const { events, jti = '', sub, sid, nonce } = payload
      const isLogout = isObject(events) && isObject(events[LOGOUT_EVENT])
      const [session, subject] = [textOrNull(sid), textOrNull(sub)]
      const isMalformed = [sid, sub].some((value) => value !== undefined && textOrNull(value) === null)
      if (!isLogout || nonce !== undefined || isMalformed || typeof jti !== 'string' || jti === '')
        throw new ProviderError('logout_token_malformed')
      if (session === null && subject === null) throw new ProviderError('logout_token_malformed')
      const lapsesAt = systemNow() + LOGOUT_LIFETIME + 2 * CLOCK_SKEW
      return { issuer: expected, sid: session, subject, jti, lapsesAt }
    },
  }
}

/** Throws ProviderError unless the text is an https URL, or an http URL if `allowsPlain`. */
function requireUrl(value: unknown, { name, allowsPlain }: { name: string; allowsPlain: boolean }): void {
  const protocol = typeof value === 'string' ? URL.parse(value)?.protocol : undefined
  if (protocol === 'https:' || (allowsPlain && protocol === 'http:')) return
  throw new ProviderError('metadata_malformed', new Error(`${name} is no URL that may be asked`))
}

function readAuthority(path: string | null): string | null {
  try {
    return path === null ? null : readFileSync(path, 'utf8')
  } catch (cause) {
    return fail('authority_unreadable', cause)
  }
}

/** Prefers client_secret_basic, which is the default of the specification. */
function authenticationFor(metadata: client.ServerMetadata, secret: string | null): client.ClientAuth {
  if (secret === null) return client.None()
  const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = metadata
  return methods.includes('client_secret_basic')
    ? client.ClientSecretBasic(secret)
    : client.ClientSecretPost(secret)
}

/** Adds the scope with the name of the group claim, if the provider has one. */
function scopeFor(config: client.Configuration, groupClaim: string | null): string {
  const { scopes_supported: offered = [] } = config.serverMetadata()
  const scopes = ['openid', 'email', 'profile']
  if (groupClaim !== null && offered.includes(groupClaim)) scopes.push(groupClaim)
  return scopes.join(' ')
}

/** Whether a needed claim is missing, which several providers have only at the userinfo endpoint. */
function needsUserInfo(
  config: client.Configuration,
  claims: Readonly<Record<string, unknown>>,
  groupClaim: string | null,
): boolean {
  if (config.serverMetadata().userinfo_endpoint === undefined) return false
  return claims.email === undefined || (groupClaim !== null && claims[groupClaim] === undefined)
}

/** Names the fault for the log. Pages show no details. */
function reasonOf(cause: unknown): string {
  if (cause instanceof client.AuthorizationResponseError) return 'provider_refused'
  if (cause instanceof client.ResponseBodyError) return 'code_refused'
  const code = cause instanceof client.ClientError ? cause.code : undefined
  return code === undefined ? 'provider_unreachable' : code.toLowerCase()
}

function fail(reason: string, cause: unknown): never {
  throw new ProviderError(reason, cause)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= MAX_SUBJECT ? value : null
}
