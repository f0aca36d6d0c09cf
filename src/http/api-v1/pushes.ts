// The previous version of the API, as a translation: its wrappers, kinds and audit log over the endpoints of this one.

import type { PushLimits } from '../../domain/new-push.ts'
import { answerJson } from '../answers.ts'
import type { PushEndpoints, Surface } from '../api/pushes.ts'
import type { Asked, Route } from '../router.ts'
import { PREVIOUS_OPERATIONS } from './operations.ts'

const FAMILIES = {
  p: { wrappers: ['password', 'push', 'file'], kind: null },
  f: { wrappers: ['file_push', 'push', 'file'], kind: 'file' },
  r: { wrappers: ['url', 'push', 'file'], kind: 'url' },
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
  return families
    .filter((family) => {
      const { kind } = FAMILIES[family]
      return kind === null || limits.kinds.has(kind)
    })
    .flatMap((family) => routesOf(family, endpoints))
}

function routesOf(family: Family, endpoints: PushEndpoints): Route[] {
  const surface = FAMILIES[family]
  const detail = PREVIOUS_OPERATIONS[family]
  const push = `/${family}/:url_token`
  const { retrieve, preview, expire, active, expired } = endpoints
  const create = (asked: Asked) => endpoints.createAs(asked, surface)
  const audit = (asked: Asked) => answerJson(200, { views: endpoints.listEntries(asked) })
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
