// The pages of administrators.

import { DomainError } from '../../domain/errors.ts'
import { answerSeeOther } from '../../http/answers.ts'
import type { Route } from '../../http/door/router.ts'
import { PAGES } from '../../http/urls.ts'
import type { Member } from '../frame/guest.ts'
import type { PageGuards } from '../page-guards.ts'
import { type AdminPageOptions, createAdminPages } from './admin.tsx'
import { type AcceptClock, createAcceptClock } from './clock.tsx'
import { createShowFirstSteps } from './first-steps.tsx'

/** Null for a server that makes no backups. */
type MakeBackup = ((by: { accountId: number }) => void) | null

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

/** The button that begins a backup at once. */
function createBackUp(makeBackup: MakeBackup) {
  return (guest: Member): Response => {
    if (makeBackup === null) throw new DomainError('not_found', 'not-found')
    makeBackup({ accountId: guest.account.id })
    return answerSeeOther(guest.href(`${PAGES.admin.href()}#backups`))
  }
}
