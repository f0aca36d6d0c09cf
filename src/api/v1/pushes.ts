// The previous version of the API: its wrappers, kinds and audit log on top of the endpoints of version 2.

import type { PushLimits } from '../../domain/new-push.ts'
import { answerJson } from '../../http/answers.ts'
import { type Family, PREVIOUS_API, PREVIOUS_FAMILIES } from '../../http/urls.ts'
import type { AnswerBody } from '../answer-tables.ts'
import { type ApiRoute, type PushEndpoints, routesOfPushes, type Surface } from '../pushes.ts'
import { PREVIOUS_OPERATIONS } from './operations.ts'

/** Clients compare this text. */
const passphraseError = 'This push has a passphrase that was incorrect or not provided.'
const COMMON = { isLenient: true, passphraseError } as const

const SURFACES = {
  p: { ...COMMON, wrappers: ['password', 'push', 'file'], kind: null },
  f: { ...COMMON, wrappers: ['file_push', 'push', 'file'], kind: 'file' },
  r: { ...COMMON, wrappers: ['url', 'push', 'file'], kind: 'url' },
} as const satisfies Record<Family, Surface>

/** `/p…` always, `/f…` and `/r…` if files and URLs are on. Each family answers for pushes of every kind. */
export function createPreviousRoutes(endpoints: PushEndpoints, limits: PushLimits): ApiRoute[] {
  const families = ['p', 'f', 'r'] as const
  const known = families.filter((family) => {
    const { kind } = SURFACES[family]
    return kind === null || limits.kinds.has(kind)
  })
  const { active, expired } = endpoints
  return [
    ...known.flatMap((family) => routesOf(family, endpoints)),
    { url: PREVIOUS_API.active, answer: active },
    { url: PREVIOUS_API.expired, answer: expired },
  ]
}

function routesOf(family: Family, endpoints: PushEndpoints): ApiRoute[] {
  const surface = SURFACES[family]
  return routesOfPushes(PREVIOUS_FAMILIES[family], PREVIOUS_OPERATIONS[family], {
    ...endpoints,
    create: (asked) => endpoints.createAs(asked, surface),
    retrieve: (asked) => endpoints.retrieveAs(asked, surface),
    audit: async (asked) => answerJson(200, { views: (await endpoints.listEntries(asked)).map(presentView) }),
  })
}

type View = AnswerBody<'PreviousAuditLog'>['views'][number]

function presentView(entry: Awaited<ReturnType<PushEndpoints['listEntries']>>[number]): View {
  return { ...entry, successful: !entry.kind.startsWith('failed_') }
}
