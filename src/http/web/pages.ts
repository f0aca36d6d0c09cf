// All pages, made from the services that each needs.

import type { PushLimits } from '../../domain/new-push.ts'
import type { Now } from '../../domain/time.ts'
import type { AccountLinks } from '../../services/account-links.ts'
import type { Accounts } from '../../services/accounts.ts'
import type { ApiTokens } from '../../services/api-tokens.ts'
import type { FormMarks } from '../../services/form-marks.ts'
import type { Idempotency } from '../../services/idempotency.ts'
import type { Lanes } from '../../services/lanes.ts'
import { createPageNonces } from '../../services/page-nonces.ts'
import type { Pushes } from '../../services/pushes.ts'
import type { Sessions } from '../../services/sessions.ts'
import type { Status } from '../../services/status.ts'
import type { TwoFactor } from '../../services/two-factor.ts'
import type { Uploads } from '../../services/uploads.ts'
import type { BodyLimits } from '../api/body.ts'
import { createSignInLimit } from '../sign-in-limit.ts'
import { createAccountPages } from './account.tsx'
import { createAdminPages, type SettingInEffect } from './admin.tsx'
import { createConfirm } from './confirm.tsx'
import { createCreatePage } from './create.tsx'
import { createCreatedPage } from './created.tsx'
import { createDashboard } from './dashboard.tsx'
import type { AnswerGuest } from './page.tsx'
import { createPreviousApiPage } from './previous-api.tsx'
import { createPushPages } from './push-page.tsx'
import { createReceivePages } from './receive.tsx'
import { createSignInPages } from './sign-in.tsx'
import { createTokenPages } from './tokens.tsx'
import { createTwoFactorPages } from './two-factor.tsx'
import { createWelcomePages } from './welcome.tsx'

export type PagesOptions = {
  answer: AnswerGuest
  /** Where the generator finds its words. */
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
  lanes: Lanes
  twoFactor: TwoFactor
  readStatus: () => Promise<Status>
  settings: readonly SettingInEffect[]
  /** Without it only accounts may create. */
  anonymousAccess: boolean
  findUndeclaredProxy: () => string | null
  /** Whether anybody may make an account. */
  signups: boolean
}

export type Pages = ReturnType<typeof createPages>

export function createPages(options: PagesOptions) {
  const { pushes, sessions, twoFactor, now } = options
  const { answer } = options
  const nonces = createPageNonces(now)
  const limit = createSignInLimit({ now, knownAddresses: sessions.knownAddresses })
  const signIn = createSignInPages({ ...options, limit })
  const account = createAccountPages({ answer, sessions, twoFactor, limit })
  return {
    confirm: createConfirm({ answer, sessions, limit }),
    create: createCreatePage(options),
    created: createCreatedPage({ answer, preview: pushes.preview, nonces, now }),
    receive: createReceivePages({ answer, pushes, nonces, now }),
    previousApi: createPreviousApiPage(answer),
    signIn,
    welcome: createWelcomePages({ ...options, limit, enterAfter: signIn.enterAfter }),
    account,
    twoFactor: createTwoFactorPages({ answer, sessions, twoFactor, limit, showAccount: account.showAgain }),
    tokens: createTokenPages(options),
    dashboard: createDashboard({ answer, pushes, now }),
    push: createPushPages({ answer, pushes, nonces, now }),
    admin: createAdminPages({ ...options, nonces }),
  }
}
