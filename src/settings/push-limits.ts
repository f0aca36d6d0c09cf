// The limits of pushes and addresses, from the configuration.

import type { SignInWay } from '../domain/account.ts'
import type { PushLimits } from '../domain/new-push.ts'
import { findRelyingParty } from '../domain/passkey.ts'
import type { PushKind } from '../domain/push.ts'
import type { ShareLimits } from '../domain/shares.ts'
import type { Config } from './table.ts'

export function shareLimitsOf(config: Config): ShareLimits {
  return { pushes: config.maxLivePushesPerAddress, bytes: config.maxLiveBytesPerAddress }
}

export function pushLimitsOf(config: Config): PushLimits {
  const kinds: PushKind[] = ['text']
  if (config.files) kinds.push('file')
  if (config.urlPushes) kinds.push('url')
  if (config.qrPushes) kinds.push('qr')
  return {
    payloadBytes: config.maxPayloadBytes,
    fileBytes: config.maxFileBytes,
    files: config.maxFiles,
    days: {
      min: config.expireAfterDaysMin,
      max: config.expireAfterDaysMax,
      default: config.expireAfterDaysDefault,
    },
    views: {
      min: config.expireAfterViewsMin,
      max: config.expireAfterViewsMax,
      default: config.expireAfterViewsDefault,
    },
    retrievalStep: config.retrievalStepDefault,
    deletableByViewer: config.deletableByViewerDefault,
    showSender: config.showSender,
    requirePassphrase: config.requirePassphrase,
    viewsAnonymous: config.maxViewsAnonymous,
    kinds: new Set(kinds),
    mail: config.smtpUrl !== null,
    endToEnd: config.endToEnd,
  }
}

/** Returns the policies that are set, for `GET /version`. */
export function policiesOf(config: Config) {
  const { requireSecondFactor, signupDomains, requirePassphrase, maxViewsAnonymous } = config
  return {
    ...(requireSecondFactor ? { require_second_factor: true as const } : {}),
    ...(signupDomains.length > 0 ? { signup_domains: signupDomains } : {}),
    ...(requirePassphrase ? { require_passphrase: true as const } : {}),
    ...(maxViewsAnonymous === null ? {} : { max_views_anonymous: maxViewsAnonymous }),
  }
}

/** Returns how people sign in to the pages, for `GET /version`. */
export function signInWaysOf({ passwordSignIn, oidcIssuer, authHeader, baseUrl }: Config): SignInWay[] {
  const hasPasskeys = passwordSignIn !== 'no' && findRelyingParty(baseUrl) !== null
  return [
    ...(passwordSignIn === 'no' ? [] : (['password'] as const)),
    ...(oidcIssuer === null ? [] : (['oidc'] as const)),
    ...(authHeader === null ? [] : (['header'] as const)),
    ...(hasPasskeys ? (['passkey'] as const) : []),
  ]
}
