// The pages of a secret link.

import type { Route } from '../../http/door/router.ts'
import { PAGES } from '../../http/urls.ts'
import { readForm } from '../frame/form.ts'
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
    // Holds the text itself, so that it is saved while the store is away, too.
    { url: PAGES.saveText, answer: async ({ exchange }) => saveText(await readForm(exchange)) },
  ]
}
