// The routes of all pages, room by room.

import type { Sessions } from '../accounts/sessions.ts'
import type { Route } from '../http/door/router.ts'
import { PAGES } from '../http/urls.ts'
import { type AccountRoutesOptions, createAccountRoutes } from './account/account-routes.ts'
import { createConfirm } from './account/confirm.tsx'
import type { AdminRoutesOptions } from './admin/admin-routes.ts'
import { createAdminRoutes } from './admin/admin-routes.ts'
import type { GetGuest } from './frame/guest.ts'
import type { AnswerGuest } from './frame/page.tsx'
import { createOwnerRoutes, type OwnerRoutesOptions } from './owner/owner-routes.ts'
import { createPageGuards } from './page-guards.ts'
import { createPreviousApiPage } from './previous-api.tsx'
import type { ReceivePageOptions } from './receive/receive.tsx'
import { createReceiveRoutes } from './receive/receive-routes.ts'
import { createShareRoutes, type ShareRoutesOptions } from './share/share-routes.ts'
import type { TrustPageOptions } from './trust/trust-page.tsx'
import { createTrustRoutes } from './trust/trust-routes.ts'

/** What the rooms need, each its own part of it. */
export type PagesOptions = ReceivePageOptions &
  ShareRoutesOptions &
  OwnerRoutesOptions &
  AccountRoutesOptions &
  AdminRoutesOptions &
  TrustPageOptions & {
    answer: AnswerGuest
    getGuest: GetGuest
    sessions: Sessions
    /** Without it only accounts may create. */
    anonymousAccess: boolean
  }

export function createPageRoutes(options: PagesOptions): Route[] {
  const guards = createPageGuards({ ...options, confirm: createConfirm(options) })
  return [
    ...createReceiveRoutes(guards, options),
    ...createShareRoutes(guards, options),
    ...createOwnerRoutes(guards, options),
    ...createAccountRoutes(guards, options),
    ...createAdminRoutes(guards, options),
    ...createTrustRoutes(guards, options),
    guards.guest(PAGES.previousApi, createPreviousApiPage(options.answer)),
  ]
}
