// The previous version of the API: its wrappers, kinds and audit log on top of the endpoints of version 2.

import type { PushLimits } from '../../domain/new-push.ts'
import { answerJson } from '../../http/answers.ts'
import { open, type Route, routesOf } from '../../http/door/router.ts'
import { type Family, PREVIOUS_API, PREVIOUS_FAMILIES } from '../../http/urls.ts'
import type { AnswerBody } from '../answer-tables.ts'
import { type ApiOperation, type DescribedUrl, describedUrls, OPERATIONS } from '../operations.ts'
import type { PushEndpoints, Surface } from '../pushes.ts'
import type { BodyName } from '../request-tables.ts'
import { presentPreviousVersion, type VersionFacts } from '../version.ts'
import type { ByToken } from '../viewer.ts'

/** Keep this text exactly, because clients compare it. */
const passphraseError = 'This push has a passphrase that was incorrect or not provided.'
const COMMON = { isLenient: true, passphraseError } as const

const FAMILIES = {
  p: { ...COMMON, wrappers: ['password', 'push', 'file'], kind: null, of: 'push', body: 'PreviousPush' },
  f: {
    ...{ ...COMMON, wrappers: ['file_push', 'push', 'file'], kind: 'file' },
    ...{ of: 'file push', body: 'PreviousFilePush' },
  },
  r: { ...COMMON, wrappers: ['url', 'push', 'file'], kind: 'url', of: 'URL push', body: 'PreviousUrlPush' },
} as const satisfies Record<Family, Surface & { of: string; body: BodyName }>

/**
 * The families on this server: `/p…` always, `/f…` and `/r…` if files and URLs are on. Each answers for
 * pushes of every kind.
 */
const familiesOf = ({ kinds }: PushLimits) =>
  (['p', 'f', 'r'] as const).filter((family) => {
    const { kind } = FAMILIES[family]
    return kind === null || kinds.has(kind)
  })

type PreviousOptions = { pushes: PushEndpoints; limits: PushLimits; byToken: ByToken; facts: VersionFacts }

export function createPreviousRoutes({ pushes, limits, byToken, facts }: PreviousOptions): Route[] {
  const { preview, expire, active, expired, createAs, retrieveAs, listEntries } = pushes
  const version = presentPreviousVersion(facts)
  const routesOfFamily = (family: Family) => {
    const surface = FAMILIES[family]
    return routesOf(PREVIOUS_FAMILIES[family], {
      create: byToken((asked) => createAs(asked, surface)),
      retrieve: byToken((asked) => retrieveAs(asked, surface), preview),
      expire: byToken(expire),
      preview: byToken(preview),
      audit: byToken(async (asked) =>
        answerJson(200, { views: (await listEntries(asked)).map(presentView) }),
      ),
      active: byToken(active),
      expired: byToken(expired),
    })
  }
  return [
    ...routesOf(PREVIOUS_API, {
      version: open(() => answerJson(200, version)),
      active: byToken(active),
      expired: byToken(expired),
    }),
    ...familiesOf(limits).flatMap(routesOfFamily),
  ]
}

type View = AnswerBody<'PreviousAuditLog'>['views'][number]

function presentView(entry: Awaited<ReturnType<PushEndpoints['listEntries']>>[number]): View {
  return { ...entry, successful: !entry.kind.startsWith('failed_') }
}

const PREVIOUS_VERSION: ApiOperation = {
  id: 'getPreviousVersion',
  summary: 'Version',
  answer: [200, 'PreviousVersion', 'About this instance.'],
}

const LENIENT =
  'A body without a content type is read as a form, or as JSON when it begins with `{`. Fields in the query count, too:'
const REFUSED_PASSPHRASE = `For a refused passphrase, \`error\` always is "${passphraseError}"; \`message\` says which.`

/** The described operations of the previous version on this server, by their URLs. */
export function listPreviousOperations(limits: PushLimits): DescribedUrl[] {
  return [
    { url: PREVIOUS_API.version, operation: PREVIOUS_VERSION },
    ...familiesOf(limits).flatMap((family) => describedUrls(PREVIOUS_FAMILIES[family], operationsOf(family))),
  ]
}

/** The operations of version 2 with other names, bodies and texts. */
function operationsOf(family: Family): Record<keyof (typeof PREVIOUS_FAMILIES)[Family], ApiOperation> {
  const { wrappers, of, body } = FAMILIES[family]
  const previous = (operation: ApiOperation, changes: Partial<ApiOperation> = {}): ApiOperation => ({
    ...{ ...operation, id: operation.id.replace(/Push(es)?$/, body), ...changes },
  })
  const { create, retrieve, expire, preview, audit, active, expired } = OPERATIONS
  return {
    create: previous(create, {
      summary: `Create a ${of}`,
      description: `${LENIENT} \`${wrappers[0]}[expire_after_days]=3\` in the query counts if the body lacks it.`,
      body,
    }),
    retrieve: previous(retrieve, { description: `${retrieve.description} ${REFUSED_PASSPHRASE}` }),
    expire: previous(expire),
    preview: previous(preview),
    audit: previous(audit, { answer: [200, 'PreviousAuditLog', 'The entries.'] }),
    active: previous(active, { description: 'Also at `/en/d/active.json`, with any language.' }),
    expired: previous(expired, { description: 'Also at `/en/d/expired.json`, with any language.' }),
  }
}
