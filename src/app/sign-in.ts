// Sign-in as configured: by the provider, by the proxy or by passkey, and which accounts may use a password.

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createHeaderSignIn, type HeaderSignIn } from '../accounts/header-sign-in.ts'
import { createPasskeys, type Passkeys } from '../accounts/passkeys.ts'
import { createProviderSignIn } from '../accounts/provider-sign-in.ts'
import type { Sessions } from '../accounts/sessions.ts'
import type { SignInLimit } from '../accounts/sign-in-limit.ts'
import type { Account } from '../domain/account.ts'
import { DomainError } from '../domain/errors.ts'
import { findRelyingParty } from '../domain/passkey.ts'
import { explainSystemError } from '../domain/system-errors.ts'
import type { Now } from '../domain/time.ts'
import { PAGES } from '../http/urls.ts'
import type { Log } from '../operating/log.ts'
import { noteFailure } from '../operating/logging.ts'
import type { ShownProvider } from '../pages/account/provider-link.tsx'
import type { Config } from '../settings/table.ts'
import type { OpenedStore } from '../store/opening/opened-store.ts'

type SignInOptions = { config: Config; store: OpenedStore; log: Log; systemNow: Now }

/** Whether this account may sign in with its password. */
export function createAllowsPassword({ passwordSignIn, breakGlass }: Config) {
  return ({ email, isAdmin }: Pick<Account, 'email' | 'isAdmin'>): boolean =>
    passwordSignIn === 'yes' || email === breakGlass || (passwordSignIn === 'admin' && isAdmin)
}

/**
 * Whether a mailed link may set a password for this account. People whom only a provider or a proxy signs in
 * would still get in after they were removed there.
 */
export function createAllowsReset(config: Config) {
  const allowsPassword = createAllowsPassword(config)
  const isAlone = config.oidcIssuer === null && config.authHeader === null
  return (account: Account): boolean => allowsPassword(account) && (account.hasPassword || isAlone)
}

/**
 * Logs each sign-in of the emergency account, which works while the provider is down, and notifies the
 * administrators.
 */
export function createWatchBreakGlass({ config, store, log }: SignInOptions) {
  return ({ id, email }: Account): void => {
    if (email !== config.breakGlass) return
    log.warn({ accountId: id }, 'the account of --break-glass signed in')
    store.events
      .tellAdmins({ type: 'account.break_glass', data: {} })
      .catch(noteFailure(log, 'could not tell the administrators of a sign-in by --break-glass'))
  }
}

/** Warns if the account that gets in while the provider is down could not sign in. */
export async function checkBreakGlass({
  config,
  store,
  log,
}: Omit<SignInOptions, 'systemNow'>): Promise<void> {
  const { breakGlass: email, passwordSignIn } = config
  if (email === null || passwordSignIn === 'yes') return
  const account = await store.accounts.findAccount(email)
  const problem = findProblem(account)
  if (problem !== null)
    log.warn(
      `the account of --break-glass ${problem}: nobody could repair this server while the provider is down`,
    )
}

function findProblem(account: Account | null): string | null {
  if (account === null) return 'does not exist (oncebox user add … --admin)'
  if (account.disabledAt !== null) return 'is disabled (oncebox user enable …)'
  if (!account.hasPassword) return 'has no password (oncebox user password …)'
  return account.isAdmin ? null : 'is no administrator (oncebox user admin …)'
}

/**
 * Creates the sign-in by passkey. A passkey signs in by itself if a password could. If the provider or a
 * proxy decides who may sign in, it is a second factor. The account of --break-glass always needs its
 * password.
 */
export function createPasskeySignIn(
  { config, store, log }: SignInOptions,
  { sessions, limit }: { sessions: Sessions; limit: SignInLimit },
): Passkeys {
  const allowsPassword = createAllowsPassword(config)
  return createPasskeys({
    ...{ store, keyring: store.keyring, sessions, limit, now: store.now },
    party: findRelyingParty(config.baseUrl),
    isOpenTo: (account) =>
      account.hasPassword && allowsPassword(account) && account.email !== config.breakGlass,
    onCopied: ({ id }) =>
      log.warn({ accountId: id }, 'refused a passkey that may have been copied: its counter went back'),
  })
}

/** Returns null without --oidc-issuer. Throws `invalid` for an --oidc-ca that is no certificate. */
export function createProvider(options: SignInOptions, sessions: Sessions): ShownProvider | null {
  const { config, store, systemNow } = options
  const { oidcIssuer: issuer, oidcClientId: clientId, baseUrl } = config
  if (issuer === null || clientId === null || baseUrl === null) return null
  if (config.oidcCa !== null) requireCertificates(config.oidcCa)
  const signIn = createProviderSignIn({
    settings: {
      ...{ issuer, clientId, clientSecret: config.oidcClientSecret, ca: config.oidcCa },
      redirectUri: `${baseUrl}${PAGES.providerCallback.href()}`,
      groupClaim: config.oidcAdminGroup?.claim ?? null,
    },
    ...{ store, keyring: store.keyring, sessions, now: store.now, systemNow },
    signup: config.oidcSignup === 'yes',
    domains: config.signupDomains,
    adminGroup: config.oidcAdminGroup,
    breakGlass: config.breakGlass,
    sessionHours: config.sessionHours,
  })
  return { name: config.oidcName ?? new URL(issuer).hostname, signIn }
}

/** Returns null without --auth-header. Throws `invalid` for a secret that cannot be read or is too short. */
export function createProxySignIn({ config, store }: SignInOptions, sessions: Sessions): HeaderSignIn | null {
  const { authHeader: header, authHeaderSecretFile, breakGlass, sessionHours } = config
  if (header === null) return null
  const secret = authHeaderSecretFile === null ? null : readProxySecret(authHeaderSecretFile)
  return createHeaderSignIn({
    ...{ header, secret, store, sessions, breakGlass, sessionHours, now: store.now },
    domains: config.signupDomains,
  })
}

/** Throws unless the file begins with a certificate. The provider's part reads it again when it is needed. */
function requireCertificates(path: string): void {
  const text = readFileOf('--oidc-ca', path)
  try {
    new X509Certificate(text)
  } catch {
    throw refuse('--oidc-ca', path, 'must hold certificates in PEM, each from BEGIN CERTIFICATE on')
  }
}

const MIN_PROXY_SECRET = 16

function readProxySecret(path: string): string {
  const flag = '--auth-header-secret-file'
  const secret = readFileOf(flag, path).trim()
  if (secret.length < MIN_PROXY_SECRET || !/^[!-~]+$/.test(secret))
    throw refuse(flag, path, `must hold one word of at least ${MIN_PROXY_SECRET} ASCII characters`)
  return secret
}

function readFileOf(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const why = explainSystemError(cause) ?? 'it cannot be read'
    throw refuse(flag, path, `must name a readable file (${why})`)
  }
}

const refuse = (flag: string, path: string, why: string) =>
  new DomainError('invalid', `${flag} ${JSON.stringify(path)}: ${why}`)
