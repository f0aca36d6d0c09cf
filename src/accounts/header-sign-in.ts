// Sign-in by a proxy that has authenticated people, and names them in a header.

import { isSameSecret } from '../crypto/tokens.ts'
import { type Account, isSignupAddress, parseEmail } from '../domain/account.ts'
import type { Visit } from '../domain/audit.ts'
import { DomainError, isDomainError } from '../domain/errors.ts'
import { HOUR, type Now } from '../domain/time.ts'
import type { SessionOrigin } from '../store/accounts-contract.ts'
import type { Store } from '../store/contract.ts'
import { ProviderError } from './provider-error.ts'
import type { Sessions, SignIn } from './sessions.ts'

/** The header with the secret of the proxy. */
const SECRET_HEADER = 'x-oncebox-proxy-secret'

export type HeaderSignIn = ReturnType<typeof createHeaderSignIn>

type HeaderSignInOptions = {
  /** The name of the header with the address. */
  header: string
  /** The secret of the proxy; null if only a proxy can connect, through a Unix socket. */
  secret: string | null
  store: Pick<Store, 'accounts' | 'identities'>
  sessions: Pick<Sessions, 'signInBy'>
  domains: readonly string[]
  breakGlass: string | null
  sessionHours: number
  now: Now
}

export function createHeaderSignIn(options: HeaderSignInOptions) {
  const { header, secret, sessions, domains, breakGlass, sessionHours, now } = options
  const { accounts, identities } = options.store

  /**
   * Returns the address that the proxy names; null if none does. Throws `malformed` for one that is sent
   * twice, too long or no address.
   */
  function readAddress(headers: Headers): string | null {
    const text = headers.get(header)
    if (text === null || text === '' || !isFromProxy(headers)) return null
    const email = parseEmail(text)
    // Refuse a comma: a header that is sent twice arrives joined by one.
    if (email === null || !/^[!-~]+$/.test(text) || /[,;<>"]/.test(text))
      throw new DomainError('malformed', `The header ${header} is sent twice, or is no e-mail address.`)
    return email
  }

  function isFromProxy(headers: Headers): boolean {
    return secret === null || isSameSecret(headers.get(SECRET_HEADER) ?? '', secret)
  }

  /** Signs in the person that the proxy names, and makes an account at the first visit. */
  async function signIn({ headers, visit }: { headers: Headers; visit: Visit }): Promise<SignIn> {
    const email = readAddress(headers)
    if (email === null) throw new ProviderError('header_missing')
    if (email === breakGlass) throw new ProviderError('break_glass')
    const found = await accounts.findCredentials(email)
    if (found === null && !isSignupAddress(email, domains)) throw new ProviderError('domain_not_allowed')
    // Another visit may make the account at the same time.
    if (found === null)
      await identities.addAccount({ email, isAdmin: false, identity: null }).catch((cause) => {
        if (!isDomainError(cause, 'conflict')) throw cause
      })
    const account = found ?? (await accounts.findCredentials(email))
    const endsAt = now() + sessionHours * HOUR
    const origin: SessionOrigin = { ...NO_PERSON, via: 'header', endsAt }
    const result = account === null ? null : await sessions.signInBy(account, { origin, visit })
    if (result === null || result.outcome === 'refused') throw new ProviderError('account_disabled')
    return result
  }

  /** Whether the proxy still names the person of a session that its header began. */
  function isStill(headers: Headers, { email }: Account): boolean {
    try {
      return readAddress(headers) === email
    } catch {
      return false
    }
  }

  return { signIn, isStill }
}

const NO_PERSON = { issuer: null, subject: null, sid: null, isMultiFactor: false }
