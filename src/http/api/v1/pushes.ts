// The previous version of the API, as a translation: its wrappers, kinds and audit log over the endpoints of this one.

import type { PushLimits } from '../../../domain/new-push.ts'
import { answerJson } from '../../door/answers.ts'
import type { Asked, Route } from '../../door/router.ts'
import type { PushEndpoints, Surface } from '../pushes.ts'
import { PREVIOUS_OPERATIONS } from './operations.ts'

/** Clients compare it. */
const passphraseError = 'This push has a passphrase that was incorrect or not provided.'
const COMMON = { isLenient: true, passphraseError } as const

const FAMILIES = {
  p: { ...COMMON, wrappers: ['password', 'push', 'file'], kind: null },
  f: { ...COMMON, wrappers: ['file_push', 'push', 'file'], kind: 'file' },
  r: { ...COMMON, wrappers: ['url', 'push', 'file'], kind: 'url' },
} as const satisfies Record<string, Surface>

export type Family = keyof typeof FAMILIES

/** `/p…` for every kind, and `/f…` and `/r…` where files and URLs are on; each family knows every push. */
export function createPreviousRoutes({
  endpoints,
  limits,
}: {
  endpoints: PushEndpoints
  limits: PushLimits
}): Route[] {
  const families = Object.keys(FAMILIES) as Family[]
  const known = families.filter((family) => {
    const { kind } = FAMILIES[family]
    return kind === null || limits.kinds.has(kind)
  })
  return [...known.flatMap((family) => routesOf(family, endpoints)), ...dashboardRoutes(endpoints)]
}

/** The lists under the path of the older dashboard: always behind a language, since `/d/…` is a download. */
function dashboardRoutes({ active, expired }: PushEndpoints): Route[] {
  const list = { method: 'GET', access: 'account' } as const
  return [
    { ...list, path: '/:locale/d/active.json', answer: active },
    { ...list, path: '/:locale/d/expired.json', answer: expired },
  ]
}

function routesOf(family: Family, endpoints: PushEndpoints): Route[] {
  const surface = FAMILIES[family]
  const detail = PREVIOUS_OPERATIONS[family]
  const push = `/${family}/:url_token`
  const { preview, expire, active, expired } = endpoints
  const create = (asked: Asked) => endpoints.createAs(asked, surface)
  const retrieve = (asked: Asked) => endpoints.retrieveAs(asked, surface)
  const audit = (asked: Asked) => answerJson(200, { views: endpoints.listEntries(asked).map(presentView) })
  const access = surface.kind === 'file' ? 'account' : 'visitor'
  return [
    { method: 'POST', path: `/${family}.json`, access, answer: create, detail: detail.create },
    {
      ...{ method: 'GET', path: `${push}.json`, access: 'visitor', answer: retrieve, head: preview },
      detail: detail.retrieve,
    },
    { method: 'DELETE', path: `${push}.json`, access: 'visitor', answer: expire, detail: detail.expire },
    {
      ...{ method: 'GET', path: `${push}/preview.json`, access: 'visitor', answer: preview },
      detail: detail.preview,
    },
    { method: 'GET', path: `${push}/audit.json`, access: 'account', answer: audit, detail: detail.audit },
    {
      ...{ method: 'GET', path: `/${family}/active.json`, access: 'account', answer: active },
      detail: detail.active,
    },
    {
      ...{ method: 'GET', path: `/${family}/expired.json`, access: 'account', answer: expired },
      detail: detail.expired,
    },
  ]
}

function presentView(entry: ReturnType<PushEndpoints['listEntries']>[number]) {
  return { ...entry, successful: !entry.kind.startsWith('failed_') }
}
