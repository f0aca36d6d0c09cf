// The services of a server, wrapped so that --audit-log records what they do to accounts and the server.

import type { Accounts } from '../accounts/accounts.ts'
import type { ApiTokens } from '../accounts/api-tokens.ts'
import type { Passkeys } from '../accounts/passkeys.ts'
import type { ProviderSignIn } from '../accounts/provider-sign-in.ts'
import { type Account, parseEmail } from '../domain/account.ts'
import type { AuditAction } from '../operating/audit-trail.ts'
import type { Act, On } from './audit-acts.ts'
import type { Services } from './services.ts'

type AuditParts = { on: On; identify: (account: Account) => void }

/** Wraps the services that change accounts, notices and the server. `identify` gets the caller. */
export function auditServices(services: Services, { on, identify }: AuditParts): Services {
  const { access, notices, upkeep, requests } = services
  return {
    ...services,
    access: auditAccess(access, { on, identify }),
    notices: {
      ...notices,
      webhooks: on(notices.webhooks, {
        add: () => ({ action: 'webhook-create' }),
        change: () => ({ action: 'webhook-change' }),
        remove: () => ({ action: 'webhook-remove' }),
        test: () => ({ action: 'webhook-test' }),
      }),
    },
    upkeep: on(upkeep, { acceptClock: () => ({ action: 'clock-accept' }) }),
    requests: on(requests, { keepRecipient: () => ({ action: 'age-key-change' }) }),
  }
}

/** Wraps the changes of accounts. */
export function auditAccounts(accounts: Accounts, on: On): Accounts {
  return on(accounts, {
    addAccount: about('account-create'),
    disableAccount: about('account-disable'),
    enableAccount: about('account-enable'),
    makeAdmin: about('account-promote'),
    unmakeAdmin: about('account-demote'),
    setService: ([email, isService]) => ({
      ...actOn('account-service', email),
      reason: isService ? 'on' : 'off',
    }),
    removeAccount: about('account-remove'),
    turnOffTwoFactor: about('second-factor-off'),
    setPassword: about('password-change'),
  })
}

/** Wraps the changes of API tokens. */
export function auditTokens(apiTokens: ApiTokens, on: On): ApiTokens {
  return on(apiTokens, {
    createApiToken: about('token-create'),
    revokeApiToken: about('token-revoke'),
    revokeOwn: about('token-revoke'),
  })
}

type Access = Services['access']

function auditAccess(access: Access, { on, identify }: AuditParts): Access {
  const { accounts, apiTokens, accountLinks, headerSignIn, provider, sessions, passkeys, twoFactor } = access
  const identified = <T extends { account: Account } | null>(found: T): T => {
    if (found !== null) identify(found.account)
    return found
  }
  return {
    ...on(access, {
      signUp: ([{ email }]) => ({
        ...actOn('account-create', email),
        reason: 'sign_up',
        user: parseEmail(email),
      }),
    }),
    accounts: auditAccounts(accounts, on),
    apiTokens: {
      ...auditTokens(apiTokens, on),
      authenticate: async (...asked) => identified(await apiTokens.authenticate(...asked)),
    },
    accountLinks: on(accountLinks, {
      createSetupLink: (_, link) => (link === null ? null : { action: 'setup-link-create' }),
      invite: about('invitation-create'),
      removeLink: () => ({ action: 'invitation-remove' }),
      sendReset: about('password-reset-request'),
      createResetLink: about('reset-link-create'),
      useLink: (_, used) => {
        if (used === undefined) return { action: 'link-use' }
        const { email } = used.account
        const action = used.isNew ? 'account-create' : 'password-reset'
        return { action, reason: 'link', user: email, target: email }
      },
    }),
    headerSignIn:
      headerSignIn && on(headerSignIn, { signIn: (_, result) => signInAct(result, { by: 'header' }) }),
    provider: provider && { ...provider, signIn: auditProvider(provider.signIn, on) },
    sessions: {
      ...on(sessions, {
        signIn: ([{ email }], result) => signInAct(result, { user: parseEmail(email) }),
        confirmSignIn: ([{ pending }], result) => ({
          ...signInAct(result, { user: pending.email }),
          action: 'sign-in-code',
        }),
        beginFor: ([{ email }], result) => signInAct(result, { user: email }),
        changePassword: ([{ account }], isRight) => ({
          ...actOn('password-change', account),
          ...outcomeOf(isRight),
        }),
        isPassword: (_, isRight) => ({ action: 'confirm-password', ...outcomeOf(isRight) }),
        testPassword: (_, hash) => ({ action: 'confirm-password', ...outcomeOf(hash !== null) }),
        isCode: (_, isRight) => ({ action: 'confirm-code', ...outcomeOf(isRight) }),
        endSession: () => ({ action: 'session-end' }),
        endOtherSessions: () => ({ action: 'session-end', reason: 'others' }),
      }),
      findSession: async (...asked) => identified(await sessions.findSession(...asked)),
    },
    passkeys: auditPasskeys(passkeys, on),
    twoFactor: on(twoFactor, {
      turnOn: ([account], codes) => ({ ...actOn('second-factor-on', account), ...outcomeOf(codes !== null) }),
      turnOff: about('second-factor-off'),
    }),
  }
}

function auditProvider(signIn: ProviderSignIn, on: On): ProviderSignIn {
  return on(signIn, {
    finish: (_, result) => {
      const outcome = result?.outcome
      // The store records the new link itself.
      if (outcome === 'linked') return null
      if (outcome === 'confirmed') return { action: 'confirm-provider' }
      if (outcome === 'confirmation_code_needed')
        return { action: 'confirm-provider', outcome: 'unknown', reason: outcome }
      return signInAct(result, { by: 'provider' })
    },
    linkByPassword: (_, result) => signInAct(result, { by: 'provider' }),
    confirmBy: (_, result) => ({ action: 'confirm-provider', ...outcomeOf(result?.outcome === 'confirmed') }),
    logOut: (_, account) => ({ action: 'session-end', reason: 'provider', target: account?.email }),
    unlink: ([account], isDone) => ({ ...actOn('provider-unlink', account), ...outcomeOf(isDone) }),
  })
}

function auditPasskeys(passkeys: Passkeys, on: On): Passkeys {
  return on(passkeys, {
    signIn: (_, result) => signInAct(result, { by: 'passkey' }),
    confirmSignIn: (_, result) => ({ ...signInAct(result, { by: 'passkey' }), action: 'sign-in-code' }),
    confirm: (_, result) => ({ action: 'confirm-passkey', ...outcomeOf(result === 'confirmed', result) }),
    add: ([{ account }], result) => ({
      ...actOn('passkey-add', account),
      ...outcomeOf(result !== 'too_many', 'too_many'),
    }),
    remove: ([account], isDone) => ({ ...actOn('passkey-remove', account), ...outcomeOf(isDone, 'gone') }),
  })
}

/** Describes a use case whose first argument is an account, or its address. */
function about(action: AuditAction) {
  return ([account]: [string | { email: string }, ...unknown[]]): Act => actOn(action, account)
}

/** Leaves out a target that is no address: it may be a password, typed into the wrong field. */
function actOn(action: AuditAction, account: string | { email: string }): Act {
  return { action, target: parseEmail(typeof account === 'string' ? account : account.email) }
}

type SignInResult = { outcome: string; account?: Account; email?: string }

/**
 * Describes a sign-in. One that still waits for a code or a password has no outcome yet. `by`: how the person
 * signed in; null for a password.
 */
function signInAct(
  result: SignInResult | undefined,
  { by = null, user = result?.account?.email ?? result?.email }: { by?: string | null; user?: string | null },
): Act {
  const { outcome = 'refused' } = result ?? {}
  const isIn = outcome === 'signed_in'
  return {
    action: 'sign-in',
    user,
    reason: isIn ? by : outcome,
    outcome: isIn ? 'success' : outcome.endsWith('_needed') ? 'unknown' : 'failure',
  }
}

function outcomeOf(isRight: boolean | undefined, reason = 'wrong'): Pick<Act, 'outcome' | 'reason'> {
  return isRight ? { outcome: 'success' } : { outcome: 'failure', reason }
}
