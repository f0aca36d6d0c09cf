// The pages of a secret link.

import type { Route } from '../../door/router.ts'
import { PAGES } from '../../urls.ts'
import type { PageGuards } from '../page-guards.ts'
import { createReceivePages, type ReceivePageOptions } from './receive.tsx'

export function createReceiveRoutes({ guest, guestForm }: PageGuards, options: ReceivePageOptions): Route[] {
  const { show, reveal, expire, saveText } = createReceivePages(options)
  return [
    guest(PAGES.receive, show),
    guest(PAGES.receiveStep, show),
    guestForm(PAGES.reveal, reveal),
    guestForm(PAGES.revealStep, reveal),
    guestForm(PAGES.expire, expire),
    guestForm(PAGES.saveText, (_, form) => saveText(form)),
  ]
}
