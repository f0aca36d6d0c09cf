// The pages of administrators.

import type { Route } from '../../door/router.ts'
import { PAGES } from '../../urls.ts'
import type { PageGuards } from '../page-guards.ts'
import { type AdminPageOptions, createAdminPages } from './admin.tsx'
import { createBackUp, type MakeBackup } from './back-up.ts'
import { type AcceptClock, createAcceptClock } from './clock.tsx'
import { createShowFirstSteps } from './first-steps.tsx'

export type AdminRoutesOptions = AdminPageOptions & { acceptClock: AcceptClock; makeBackup: MakeBackup }

export function createAdminRoutes(
  { member, form, confirmedForm }: PageGuards,
  options: AdminRoutesOptions,
): Route[] {
  const { show, invite, withdraw, disable, enable, reset, remove } = createAdminPages(options)
  return [
    member(PAGES.admin, show),
    member(PAGES.firstSteps, createShowFirstSteps(options.answer)),
    confirmedForm(PAGES.invite, invite),
    // Does not ask for the password, because it only takes access away, and may be urgent.
    form(PAGES.withdrawInvitation, withdraw),
    confirmedForm(PAGES.disableAccount, disable),
    confirmedForm(PAGES.enableAccount, enable),
    confirmedForm(PAGES.resetAccount, reset),
    confirmedForm(PAGES.removeAccount, remove),
    // Asks for the password, because pushes that have ended by this clock are destroyed then.
    confirmedForm(PAGES.acceptClock, createAcceptClock(options.acceptClock)),
    // Makes room for the new one by removing the oldest.
    confirmedForm(PAGES.backUp, createBackUp(options.makeBackup)),
  ]
}
