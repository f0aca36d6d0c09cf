// The pages of an account's own pushes.

import type { Route } from '../../http/door/router.ts'
import { PAGES } from '../../http/urls.ts'
import type { PageGuards } from '../page-guards.ts'
import { createDashboard, type DashboardOptions } from './dashboard.ts'
import { createPushPages, type PushPageOptions } from './push-page.ts'

export type OwnerRoutesOptions = DashboardOptions & PushPageOptions

export function createOwnerRoutes({ member, form }: PageGuards, options: OwnerRoutesOptions): Route[] {
  const list = createDashboard(options)
  const { show, expire, unlock, edit, exportCsv, exportJson } = createPushPages(options)
  return [
    member(PAGES.pushes, list.show),
    form(PAGES.changePushes, list.change),
    member(PAGES.push, show),
    form(PAGES.editPush, edit),
    form(PAGES.expireOwn, expire),
    form(PAGES.unlock, unlock),
    member(PAGES.auditCsv, exportCsv),
    member(PAGES.auditJson, exportJson),
  ]
}
