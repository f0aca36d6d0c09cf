// Makes all pages, each from the services that it needs.

import type { PushLimits } from '../../domain/new-push.ts'
import type { Now } from '../../domain/time.ts'
import type { JobStatus } from '../../operating/jobs.ts'
import type { AccountLinks } from '../../services/accounts/account-links.ts'
import type { Accounts } from '../../services/accounts/accounts.ts'
import type { ApiTokens } from '../../services/accounts/api-tokens.ts'
import type { Sessions } from '../../services/accounts/sessions.ts'
import type { SignUp } from '../../services/accounts/sign-up.ts'
import type { TwoFactor } from '../../services/accounts/two-factor.ts'
import type { FormMarks } from '../../services/pushes/form-marks.ts'
import type { Idempotency } from '../../services/pushes/idempotency.ts'
import { createPageNonces } from '../../services/pushes/page-nonces.ts'
import type { Pushes } from '../../services/pushes/pushes.ts'
import type { Uploads } from '../../services/pushes/uploads.ts'
import type { Status } from '../../services/upkeep/status.ts'
import type { BodyLimits } from '../intake/body.ts'
import { createAccountPages } from './account/account.tsx'
import { createConfirm } from './account/confirm.tsx'
import { createSignInPages } from './account/sign-in.tsx'
import { createTokenPages } from './account/tokens.tsx'
import { createTwoFactorPages } from './account/two-factor.tsx'
import { createWelcomePages } from './account/welcome.tsx'
import { createAdminPages } from './admin/admin.tsx'
import type { SettingInEffect } from './admin/admin-parts.tsx'
import type { AnswerGuest } from './frame/page.tsx'
import { createDashboard } from './owner/dashboard.tsx'
import { createPushPages } from './owner/push-page.tsx'
import { createPreviousApiPage } from './previous-api.tsx'
import { createReceivePages } from './receive/receive.tsx'
import { createCreatePage } from './share/create.tsx'
import { createCreatedPage } from './share/created.tsx'

export type PagesOptions = {
  answer: AnswerGuest
  /** The URL of the generator's word list. */
  wordlist: string
  pushes: Pushes
  uploads: Uploads
  idempotency: Idempotency
  marks: FormMarks
  limits: PushLimits
  body: BodyLimits
  now: Now
  accounts: Accounts
  accountLinks: AccountLinks
  apiTokens: ApiTokens
  sessions: Sessions
  signUp: SignUp
  twoFactor: TwoFactor
  readStatus: () => Promise<Status>
  listJobs: () => readonly JobStatus[]
  settings: readonly SettingInEffect[]
  /** Without it only accounts may create. */
  anonymousAccess: boolean
  listUndeclaredProxies: () => string[]
  /** Whether everybody may create an account. */
  signups: boolean
}

export type Pages = ReturnType<typeof createPages>

export function createPages(options: PagesOptions) {
  const { pushes, sessions, twoFactor, now } = options
  const { answer } = options
  const nonces = createPageNonces(now)
  const signIn = createSignInPages(options)
  const account = createAccountPages({ answer, sessions, twoFactor })
  return {
    confirm: createConfirm({ answer, sessions }),
    create: createCreatePage(options),
    created: createCreatedPage({ answer, preview: pushes.preview, nonces, now }),
    receive: createReceivePages({ answer, pushes, nonces, now }),
    previousApi: createPreviousApiPage(answer),
    signIn,
    welcome: createWelcomePages({ ...options, enterAfter: signIn.enterAfter }),
    account,
    twoFactor: createTwoFactorPages({ answer, sessions, twoFactor, showAccount: account.showAgain }),
    tokens: createTokenPages(options),
    dashboard: createDashboard({ answer, pushes, now }),
    push: createPushPages({ answer, pushes, nonces, now }),
    admin: createAdminPages({ ...options, nonces }),
  }
}
