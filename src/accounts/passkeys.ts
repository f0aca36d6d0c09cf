// Passkeys: issues challenges to browsers and checks the signed answers. A passkey signs in by itself where
// the password alone would, serves as second factor everywhere else, and confirms a session.

import type { Keyring } from '../crypto/keyring.ts'
import { randomKey } from '../crypto/random.ts'
import { hashRecoveryCode, hashToken, isSameSecret } from '../crypto/tokens.ts'
import type { Account } from '../domain/account.ts'
import type { Visit } from '../domain/audit.ts'
import { CHALLENGE_LIFETIME, MAX_PASSKEYS, type RelyingParty } from '../domain/passkey.ts'
import { MINUTE, type Now } from '../domain/time.ts'
import type { StoredPasskey } from '../store/accounts-contract.ts'
import type { Store } from '../store/contract.ts'
import type { Credential } from './passkey-verifier.ts'
import { conflictAs, ProviderError } from './provider-error.ts'
import type { CurrentSession, NewSession, Sessions } from './sessions.ts'
import type { SignInLimit } from './sign-in-limit.ts'
import { createTicket, nonceOf } from './ticket.ts'
import { newRecoveryCodes } from './two-factor.ts'

/** The purpose of a challenge. `pending` is the sealed sign-in whose password was correct. */
export type PasskeyPurpose =
  | { kind: 'sign_in' }
  | { kind: 'second_factor'; pending: string }
  | { kind: 'confirm'; session: CurrentSession }
  | { kind: 'add'; session: CurrentSession; serverName: string }

/** The answer of a browser, and the cookie that came with the challenge. */
export type PasskeyAnswer = { credential: string; cookie: string | null; visit: Visit }

export type PasskeySignIn =
  | ({ outcome: 'signed_in' } & NewSession)
  /** The counter went back: the passkey may have been copied, and is disabled. */
  | { outcome: 'copied'; account: Account }
  /**
   * The password has changed, so the passkey works only as second factor until it was used with the new one.
   */
  | { outcome: 'password_needed'; account: Account }
  | { outcome: 'refused' }

type Begun = { challenge: string; purpose: string }

export type Passkeys = ReturnType<typeof createPasskeys>

export type PasskeysOptions = {
  /** This server as browsers identify it; null if browsers offer no passkeys for its address. */
  party: RelyingParty | null
  store: Pick<Store, 'passkeys' | 'identities'>
  keyring: Keyring
  sessions: Pick<Sessions, 'readPending' | 'confirmSignInBy' | 'beginByPasskey'>
  limit: Pick<SignInLimit, 'tryPasskey'>
  /** Whether a passkey alone may sign in to this account. */
  isOpenTo: (account: Account) => boolean
  onCopied: (account: Account) => void
  now: Now
}

/** Far more than any authenticator sends. */
const MAX_CREDENTIAL = 16_000

export function createPasskeys(options: PasskeysOptions) {
  const { party, keyring, sessions, limit, isOpenTo, onCopied, now } = options
  const { passkeys, identities } = options.store
  const lapsing = { keyring, now, lifetime: CHALLENGE_LIFETIME }
  const challenges = createTicket<Begun>({ ...lapsing, field: 'challenge of a passkey' })

  /** Lists the passkeys that work under the present host name. */
  async function listUsable(accountId: number) {
    const all = await passkeys.listPasskeys(accountId)
    return all.filter(({ rpId, copiedAt }) => rpId === party?.id && copiedAt === null)
  }

  /**
   * Resolves to the options for the browser's call, and to the cookie that binds the challenge to this
   * browser; null if nothing can answer.
   */
  async function start(purpose: PasskeyPurpose): Promise<{ call: object; cookie: string } | null> {
    const challenge = randomKey(32).toString('base64url')
    const call = await callFor(purpose, challenge)
    return call && { call, cookie: challenges.seal({ challenge, purpose: nameOf(purpose) }) }
  }

  async function callFor(purpose: PasskeyPurpose, challenge: string): Promise<object | null> {
    if (party === null) return null
    const common = { challenge, timeout: CHALLENGE_LIFETIME }
    if (purpose.kind === 'add') {
      const { account } = purpose.session
      const known = await passkeys.listPasskeys(account.id)
      return {
        create: {
          ...common,
          rp: { id: party.id, name: purpose.serverName },
          user: { id: handleOf(account), name: account.email, displayName: account.email },
          pubKeyCredParams: [-8, -7, -257].map((alg) => ({ type: 'public-key', alg })),
          excludeCredentials: known.map(describe),
          authenticatorSelection: {
            ...{ residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
          },
          attestation: 'none',
        },
      }
    }
    const get = { ...common, rpId: party.id, userVerification: 'required' }
    if (purpose.kind === 'sign_in') return { get: { ...get, allowCredentials: [] } }
    const accountId =
      purpose.kind === 'confirm'
        ? purpose.session.account.id
        : (sessions.readPending(purpose.pending)?.accountId ?? 0)
    const usable = await listUsable(accountId)
    return usable.length === 0 ? null : { get: { ...get, allowCredentials: usable.map(describe) } }
  }

  /** Throws ProviderError if this browser has no unexpired challenge for this purpose. */
  function read({ credential, cookie, visit }: PasskeyAnswer, purpose: PasskeyPurpose) {
    const begun = cookie === null ? null : challenges.open(cookie)
    if (party === null || begun === null || begun.purpose !== nameOf(purpose))
      throw new ProviderError('challenge_missing')
    return { begun, sent: parseCredential(credential), party, visit }
  }

  /** Marks a challenge as used; it can be used once, across all nodes. */
  function spend({ challenge, until }: { challenge: string; until: number }): Promise<void> {
    const once = nonceOf(`passkey challenge ${challenge}`, until + MINUTE)
    return identities.spend(once).catch(conflictAs('challenge_used'))
  }

  type SentAnswer = ReturnType<typeof read>
  type ToProve = { found: StoredPasskey | null; owner?: number; beside?: string | null }

  /**
   * Throws ProviderError if the signature is invalid, and `too_many` after too many invalid ones. Resolves to
   * false for a copied passkey.
   */
  function prove(given: SentAnswer, asked: ToProve): Promise<boolean> {
    return limit.tryPasskey(given.visit.ip, { work: () => tryProve(given, asked), isRight: Boolean })
  }

  async function tryProve(
    { begun, sent, party }: SentAnswer,
    { found, owner, beside = null }: ToProve,
  ): Promise<boolean> {
    const account = found?.owner.account
    const isOurs = found?.rpId === party.id && (owner === undefined || account?.id === owner)
    if (found === null || account === undefined || !isOurs) throw new ProviderError('passkey_unknown')
    if (sent.userHandle && !isSameSecret(sent.userHandle, handleOf(account)))
      throw new ProviderError('passkey_wrong')
    const { verifyUse } = await import('./passkey-verifier.ts')
    const expected = { challenge: begun.challenge, party, publicKey: found.publicKey }
    const counter = await verifyUse(sent, expected).catch((cause) => {
      throw new ProviderError('passkey_wrong', cause)
    })
    await spend(begun)
    const used = await passkeys.use({ id: found.id, accountId: account.id, counter, beside })
    if (used === 'gone') throw new ProviderError('passkey_unknown')
    if (used === 'copied') onCopied(account)
    return used === 'used'
  }

  const find = ({ id }: Credential) => passkeys.find(Buffer.from(id, 'base64url'))

  /** Signs in without a password. Throws `too_many` and ProviderError. */
  async function signIn(answer: PasskeyAnswer): Promise<PasskeySignIn> {
    const given = read(answer, { kind: 'sign_in' })
    const found = await find(given.sent)
    const isProven = await prove(given, { found })
    if (found === null) return { outcome: 'refused' }
    const { account } = found.owner
    if (!isProven) return { outcome: 'copied', account }
    if (!isOpenTo(account)) throw new ProviderError('passkey_not_alone')
    if (!found.signsIn) return { outcome: 'password_needed', account }
    return sessions.beginByPasskey(found.owner, answer.visit)
  }

  /** Completes a sign-in whose password or provider was accepted. Throws `too_many` and ProviderError. */
  async function confirmSignIn(asked: PasskeyAnswer & { pending: string }): Promise<PasskeySignIn> {
    const { pending: text, ...answer } = asked
    const given = read(answer, { kind: 'second_factor', pending: text })
    const pending = sessions.readPending(text)
    if (pending === null) throw new ProviderError('challenge_missing')
    const found = await find(given.sent)
    let isProven: boolean | null = null
    const entry = { pending, visit: answer.visit }
    const result = await sessions.confirmSignInBy(entry, async ({ account, passwordHash }) => {
      const beside = pending.by === null ? passwordHash : null
      isProven = await prove(given, { found, owner: account.id, beside })
      return isProven
    })
    if (isProven === false && found !== null) return { outcome: 'copied', account: found.owner.account }
    return result.outcome === 'signed_in' ? result : { outcome: 'refused' }
  }

  /** Confirms a session in place of password and code. Throws `too_many` and ProviderError. */
  async function confirm(
    session: CurrentSession,
    answer: PasskeyAnswer,
  ): Promise<'confirmed' | 'copied' | 'ended'> {
    const given = read(answer, { kind: 'confirm', session })
    const owner = session.account.id
    if (!(await prove(given, { found: await find(given.sent), owner }))) return 'copied'
    return (await identities.confirmSession(session.session.id)) ? 'confirmed' : 'ended'
  }

  /**
   * Adds a passkey. Resolves to the recovery codes, shown once, if it is the first second factor. Throws
   * ProviderError.
   */
  async function add(
    session: CurrentSession,
    { name, ...answer }: PasskeyAnswer & { name: string },
  ): Promise<{ codes: string[] | null } | 'too_many'> {
    const { begun, sent, party } = read(answer, { kind: 'add', session, serverName: '' })
    await spend(begun)
    const { verifyNew } = await import('./passkey-verifier.ts')
    const key = await verifyNew(sent, { challenge: begun.challenge, party }).catch((cause) => {
      throw new ProviderError('passkey_wrong', cause)
    })
    const codes = newRecoveryCodes()
    const { account } = session
    const added = await passkeys.add({
      ...{ ...key, accountId: account.id, session: session.session.id, rpId: party.id, name },
      recoveryHashes: codes.map(hashRecoveryCode),
    })
    if (added === 'too_many') return 'too_many'
    if (added === 'known') throw new ProviderError('passkey_known')
    return { codes: added === 'first' ? codes : null }
  }

  return {
    party,
    ...{ start, signIn, confirmSignIn, confirm, add },
    list: ({ id }: Account) => passkeys.listPasskeys(id),
    /** Whether the account has a passkey that a browser can use here. */
    canAsk: async ({ id, passkeys: n }: Pick<Account, 'id' | 'passkeys'>) =>
      n > 0 && (await listUsable(id)).length > 0,
    hasRoom: ({ passkeys: n }: Account) => n < MAX_PASSKEYS,
    /** Returns false if the passkey was removed before. */
    remove: ({ id: accountId }: Account, id: number) => passkeys.remove({ accountId, id }),
  }
}

/**
 * Returns a name for the purpose, so that a challenge cannot be used for another one. Names a session by its
 * form token, because its id may be reused by a later session.
 */
function nameOf(purpose: PasskeyPurpose): string {
  switch (purpose.kind) {
    case 'sign_in':
      return 'sign_in'
    case 'second_factor':
      return `second_factor ${hashToken(purpose.pending).toString('base64url')}`
    case 'confirm':
    case 'add':
      return `${purpose.kind} ${hashToken(purpose.session.formToken).toString('base64url')}`
  }
}

/** The user handle of an account: the same for all of its passkeys, and without personal data. */
function handleOf({ id, createdAt }: Account): string {
  return hashToken(`passkeys of account ${id} ${createdAt}`).toString('base64url')
}

function describe({ credentialId }: { credentialId: Uint8Array }) {
  return { type: 'public-key', id: Buffer.from(credentialId).toString('base64url') }
}

const MEMBERS = ['id', 'clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle']

function parseCredential(text: string): Credential {
  if (text.length > MAX_CREDENTIAL) throw new ProviderError('credential_malformed')
  try {
    const sent: Record<string, unknown> = JSON.parse(text)
    const known = MEMBERS.flatMap((name) => {
      const value = sent[name] ?? ''
      if (typeof value !== 'string' || !/^[\w-]*$/.test(value)) throw new Error(`${name} is not base64url`)
      return [[name, value]]
    })
    const credential: Credential = { id: '', ...Object.fromEntries(known) }
    if (credential.id === '') throw new Error('id is missing')
    return credential
  } catch (cause) {
    throw new ProviderError('credential_malformed', cause)
  }
}
