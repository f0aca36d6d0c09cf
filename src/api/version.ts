// Presents this instance for `GET /version` of both versions of the API.

import type { SignInWay } from '../domain/account.ts'
import type { PushLimits } from '../domain/new-push.ts'
import type { AnswerBody } from './answer-tables.ts'

const API_VERSION = '2.1'
const PREVIOUS_API_VERSION = '1.5'

export type VersionFacts = {
  applicationVersion: string
  anonymousAccess: boolean
  limits: PushLimits
  /** Whether accounts can have webhooks. */
  webhooks: boolean
  policies: AnswerBody<'Version'>['extensions']['policies']
  /** The ways to sign in to the pages. */
  signIn: readonly SignInWay[]
}

export function presentVersion(facts: VersionFacts): AnswerBody<'Version'> {
  const { applicationVersion, anonymousAccess, limits, webhooks, policies, signIn } = facts
  return {
    application_version: applicationVersion,
    api_version: API_VERSION,
    edition: 'oss',
    features: {
      anonymous_access: anonymousAccess,
      api_token_authentication: true,
      accounts: { enabled: false },
      pushes: {
        enabled: true,
        email_auto_dispatch: limits.mail,
        file_attachments: { enabled: limits.kinds.has('file'), requires_authentication: true },
        url_pushes: { enabled: limits.kinds.has('url') },
        qr_code_pushes: { enabled: limits.kinds.has('qr') },
      },
      requests: { enabled: false },
    },
    extensions: {
      requests: true,
      events: true,
      webhooks,
      mail: limits.mail,
      end_to_end: limits.endToEnd,
      sign_in: [...signIn],
      policies,
    },
    limits: {
      payload_bytes: limits.payloadBytes,
      file_bytes: limits.fileBytes,
      files: limits.files,
      expire_after_days: limits.days,
      expire_after_views: limits.views,
    },
  }
}

export function presentPreviousVersion({ applicationVersion }: VersionFacts): AnswerBody<'PreviousVersion'> {
  return { application_version: applicationVersion, api_version: PREVIOUS_API_VERSION, edition: 'oss' }
}
