// The pages of somebody who shares something.

import type { Route } from '../../http/door/router.ts'
import { PAGES } from '../../http/urls.ts'
import type { PageGuards } from '../page-guards.ts'
import { type CreatePageOptions, createCreatePage } from './create/create.tsx'
import { type CreatedPageOptions, createCreatedPage } from './created.tsx'

export type ShareRoutesOptions = CreatePageOptions & CreatedPageOptions

export function createShareRoutes({ guest, patientForm }: PageGuards, options: ShareRoutesOptions): Route[] {
  const { show, create, refuseUnknown, share } = createCreatePage(options)
  return [
    guest(PAGES.create, (visitor) => show(visitor)),
    patientForm(PAGES.submitCreate, { use: (visitor) => create(visitor), refuse: refuseUnknown }),
    patientForm(PAGES.share, { use: (visitor) => share(visitor), refuse: share }),
    guest(PAGES.created, createCreatedPage(options)),
  ]
}
