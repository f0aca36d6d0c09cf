// The pages of an account's own pushes.

import type { Route } from '../../door/router.ts'
import { PAGES } from '../../urls.ts'
import type { PageGuards } from '../page-guards.ts'
import { createDashboard, type DashboardOptions } from './dashboard.tsx'
import { createPushPages, type PushPageOptions } from './push-page.tsx'

export type OwnerRoutesOptions = DashboardOptions & PushPageOptions

export function createOwnerRoutes({ member, form }: PageGuards, options: OwnerRoutesOptions): Route[] {
  const { show, expire, unlock, exportCsv, exportJson } = createPushPages(options)
  return [
    member(PAGES.pushes, createDashboard(options)),
    member(PAGES.push, show),
    form(PAGES.expireOwn, expire),
    form(PAGES.unlock, unlock),
    member(PAGES.auditCsv, exportCsv),
    member(PAGES.auditJson, exportJson),
  ]
}
