// The services of a server, wrapped so that --audit-log tells what they do to accounts and the server.

import type { Accounts } from '../accounts/accounts.ts'
import type { ApiTokens } from '../accounts/api-tokens.ts'
import type { Passkeys } from '../accounts/passkeys.ts'
import type { ProviderSignIn } from '../accounts/provider-sign-in.ts'
import { type Account, parseEmail } from '../domain/account.ts'
import type { AuditAction } from '../operating/audit-trail.ts'
import type { Act, On } from './audit-acts.ts'
import type { Services } from './services.ts'

type AuditParts = { on: On; identify: (account: Account) => void }

/** Wraps what changes accounts, notices and the server. `identify` hears who asks. */
export function auditServices(services: Services, { on, identify }: AuditParts): Services {
  return {
    ...services,
    access: auditAccess(services.access, { on, identify }),
    notices: { ...services.notices, webhooks: auditWebhooks(services.notices.webhooks, on) },
    upkeep: {
      ...services.upkeep,
      acceptClock: on(services.upkeep.acceptClock, () => ({ action: 'clock-accept' })),
    },
    requests: {
      ...services.requests,
      keepRecipient: on(services.requests.keepRecipient, () => ({ action: 'age-key-change' })),
    },
  }
}

type Webhooks = Services['notices']['webhooks']

function auditWebhooks(webhooks: Webhooks, on: On): Webhooks {
  return {
    ...webhooks,
    add: on(webhooks.add, () => ({ action: 'webhook-create' })),
    change: on(webhooks.change, () => ({ action: 'webhook-change' })),
    remove: on(webhooks.remove, () => ({ action: 'webhook-remove' })),
    test: on(webhooks.test, () => ({ action: 'webhook-test' })),
  }
}

/** Wraps the changes of accounts. */
export function auditAccounts(accounts: Accounts, on: On): Accounts {
  const ofEmail =
    (action: AuditAction) =>
    ([email]: [string, ...unknown[]]): Act => ({ action, target: addressIn(email) })
  return {
    ...accounts,
    addAccount: on(accounts.addAccount, ([{ email }]) => ({
      action: 'account-create',
      target: addressIn(email),
    })),
    disableAccount: on(accounts.disableAccount, ofEmail('account-disable')),
    enableAccount: on(accounts.enableAccount, ofEmail('account-enable')),
    makeAdmin: on(accounts.makeAdmin, ofEmail('account-promote')),
    unmakeAdmin: on(accounts.unmakeAdmin, ofEmail('account-demote')),
    setService: on(accounts.setService, ([email, isService]) => ({
      ...{ action: 'account-service', target: addressIn(email), reason: isService ? 'on' : 'off' },
    })),
    removeAccount: on(accounts.removeAccount, ofEmail('account-remove')),
    turnOffTwoFactor: on(accounts.turnOffTwoFactor, ofEmail('second-factor-off')),
    setPassword: on(accounts.setPassword, ([{ email }]) => ({
      action: 'password-change',
      target: addressIn(email),
    })),
  }
}

/** Wraps the changes of API tokens. */
export function auditTokens(apiTokens: ApiTokens, on: On): ApiTokens {
  return {
    ...apiTokens,
    createApiToken: on(apiTokens.createApiToken, ([{ email }]) => ({
      action: 'token-create',
      target: email,
    })),
    revokeApiToken: on(apiTokens.revokeApiToken, ([{ email }]) => ({
      action: 'token-revoke',
      target: email,
    })),
    revokeOwn: on(apiTokens.revokeOwn, ([{ email }]) => ({ action: 'token-revoke', target: email })),
  }
}

type Access = Services['access']

function auditAccess(access: Access, { on, identify }: AuditParts): Access {
  const { accounts, apiTokens, accountLinks, sessions, twoFactor } = access
  const identified = <T extends { account: Account } | null>(found: T): T => {
    if (found !== null) identify(found.account)
    return found
  }
  return {
    ...access,
    accounts: auditAccounts(accounts, on),
    signUp: on(access.signUp, ([{ email }]) => ({
      ...{ action: 'account-create', reason: 'sign_up' },
      ...{ user: addressIn(email), target: addressIn(email) },
    })),
    apiTokens: {
      ...auditTokens(apiTokens, on),
      authenticate: async (...asked) => identified(await apiTokens.authenticate(...asked)),
    },
    accountLinks: {
      ...accountLinks,
      createSetupLink: on(accountLinks.createSetupLink, (_, link) =>
        link === null ? null : { action: 'setup-link-create' },
      ),
      invite: on(accountLinks.invite, ([{ email }]) => ({
        action: 'invitation-create',
        target: addressIn(email),
      })),
      removeLink: on(accountLinks.removeLink, () => ({ action: 'invitation-remove' })),
      sendReset: on(accountLinks.sendReset, ([{ email }]) => ({
        ...{ action: 'password-reset-request', target: addressIn(email) },
      })),
      createResetLink: on(accountLinks.createResetLink, ([{ email }]) => ({
        ...{ action: 'reset-link-create', target: email },
      })),
      useLink: on(accountLinks.useLink, (_, used) =>
        used === undefined
          ? { action: 'link-use' }
          : {
              ...{ action: used.isNew ? 'account-create' : 'password-reset', reason: 'link' },
              ...{ user: used.account.email, target: used.account.email },
            },
      ),
    },
    headerSignIn: access.headerSignIn && {
      ...access.headerSignIn,
      signIn: on(access.headerSignIn.signIn, (_, result) => byOthers('header', result)),
    },
    provider: access.provider && { ...access.provider, signIn: auditProvider(access.provider.signIn, on) },
    sessions: {
      ...sessions,
      findSession: async (...asked) => identified(await sessions.findSession(...asked)),
      signIn: on(sessions.signIn, ([{ email }], result) => signInAct(addressIn(email), result?.outcome)),
      confirmSignIn: on(sessions.confirmSignIn, ([{ pending }], result) => ({
        ...signInAct(pending.email, result?.outcome),
        action: 'sign-in-code',
      })),
      beginFor: on(sessions.beginFor, ([{ email }], result) => signInAct(email, result?.outcome)),
      changePassword: on(sessions.changePassword, ([{ account }], isRight) => ({
        ...{ action: 'password-change', target: account.email, ...outcomeOf(isRight) },
      })),
      isPassword: on(sessions.isPassword, (_, isRight) => ({
        ...{ action: 'confirm-password', ...outcomeOf(isRight) },
      })),
      testPassword: on(sessions.testPassword, (_, hash) => ({
        ...{ action: 'confirm-password', ...outcomeOf(hash !== null) },
      })),
      isCode: on(sessions.isCode, (_, isRight) => ({ action: 'confirm-code', ...outcomeOf(isRight) })),
      endSession: on(sessions.endSession, () => ({ action: 'session-end' })),
      endOtherSessions: on(sessions.endOtherSessions, () => ({ action: 'session-end', reason: 'others' })),
    },
    passkeys: auditPasskeys(access.passkeys, on),
    twoFactor: {
      ...twoFactor,
      turnOn: on(twoFactor.turnOn, ([{ email }], codes) => ({
        ...{ action: 'second-factor-on', target: email, ...outcomeOf(codes !== null) },
      })),
      turnOff: on(twoFactor.turnOff, ([{ email }]) => ({ action: 'second-factor-off', target: email })),
    },
  }
}

function auditProvider(signIn: ProviderSignIn, on: On): ProviderSignIn {
  return {
    ...signIn,
    finish: on(signIn.finish, ([{ session }], result) => {
      const outcome = result?.outcome
      if (outcome === 'linked') return { action: 'provider-link', target: session?.account.email }
      if (outcome === 'confirmed') return { action: 'confirm-provider' }
      if (outcome === 'confirmation_code_needed')
        return { action: 'confirm-provider', outcome: 'unknown', reason: outcome }
      return byOthers('provider', result)
    }),
    linkByPassword: on(signIn.linkByPassword, (_, result) => byOthers('provider', result)),
    confirmBy: on(signIn.confirmBy, (_, result) => ({
      ...{ action: 'confirm-provider', ...outcomeOf(result?.outcome === 'confirmed') },
    })),
    logOut: on(signIn.logOut, () => ({ action: 'session-end', reason: 'provider' })),
    unlink: on(signIn.unlink, ([{ email }], isDone) => ({
      ...{ action: 'provider-unlink', target: email, ...outcomeOf(isDone) },
    })),
  }
}

function auditPasskeys(passkeys: Passkeys, on: On): Passkeys {
  return {
    ...passkeys,
    signIn: on(passkeys.signIn, (_, result) => byOthers('passkey', result)),
    confirmSignIn: on(passkeys.confirmSignIn, (_, result) => ({
      ...byOthers('passkey', result),
      action: 'sign-in-code',
    })),
    confirm: on(passkeys.confirm, (_, result) => ({
      ...(result === 'confirmed' ? { outcome: 'success' } : { outcome: 'failure', reason: result }),
      action: 'confirm-passkey',
    })),
    add: on(passkeys.add, ([{ account }], result) => ({
      ...{ action: 'passkey-add', target: account.email },
      ...(result === 'too_many' ? { outcome: 'failure', reason: 'too_many' } : {}),
    })),
    remove: on(passkeys.remove, ([{ email }], isDone) => ({
      ...{ action: 'passkey-remove', target: email },
      ...(isDone ? {} : { outcome: 'failure', reason: 'gone' }),
    })),
  }
}

/**
 * Tells a sign-in by provider, proxy or passkey; one that waits for a code or a password is not decided yet.
 */
function byOthers(
  by: 'provider' | 'header' | 'passkey',
  result: { outcome: string; account?: Account } | undefined,
): Act {
  const { outcome = 'refused', account } = result ?? {}
  const isIn = outcome === 'signed_in'
  return {
    ...{ action: 'sign-in', user: account?.email, reason: isIn ? by : outcome },
    outcome: isIn ? 'success' : outcome.endsWith('_needed') ? 'unknown' : 'failure',
  }
}

/** Returns null for what is no address: a password may have been typed into the wrong field. */
const addressIn = (text: string): string | null => parseEmail(text)

function signInAct(user: string | null, outcome: string | undefined): Act {
  const isIn = outcome === 'signed_in'
  const isHalf = outcome === 'code_needed'
  return {
    ...{ action: 'sign-in', user, outcome: isIn ? 'success' : isHalf ? 'unknown' : 'failure' },
    reason: isIn ? null : outcome,
  }
}

function outcomeOf(isRight: boolean | undefined): Pick<Act, 'outcome' | 'reason'> {
  return isRight ? { outcome: 'success' } : { outcome: 'failure', reason: 'wrong' }
}
