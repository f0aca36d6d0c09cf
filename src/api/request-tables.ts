// The bodies of requests as the reference shows them: the members of each as JSON and as forms.

import type { PushLimits } from '../domain/new-push.ts'
import { type TSchema, Type } from '../http/intake/members.ts'
import { createEditTable } from '../http/intake/push-edit.ts'
import { createMailTable, createPushTable } from '../http/intake/push-input.ts'
import { createAnswerTable } from '../http/intake/receiving.ts'
import { createRequestTable } from '../http/intake/request-input.ts'
import { createWebhookTable } from '../http/intake/webhook-input.ts'

const TEXT_EXAMPLE = { payload: 'correct horse battery staple' }

type Body = {
  /** The name of the object around the members. */
  wrapper: string
  tableOf: (limits: PushLimits) => Record<string, { schema: TSchema }>
  /** Another body that has the same members. */
  like?: 'Push'
  example: object
}

const OF_PUSH = { tableOf: createPushTable, like: 'Push' } as const

/** By the name that the reference gives them. */
const BODIES = {
  Push: { wrapper: 'push', tableOf: createPushTable, example: TEXT_EXAMPLE },
  PushEdit: {
    ...{ wrapper: 'push', tableOf: createEditTable },
    example: { name: 'VPN for Cleo', expire_after_views: 1 },
  },
  LinkMail: {
    ...{ wrapper: 'push', tableOf: createMailTable },
    example: { notify_emails_to: 'ann@example.org, bob@example.org', notify_emails_to_locale: 'de' },
  },
  Answer: { wrapper: 'push', tableOf: createAnswerTable, example: TEXT_EXAMPLE },
  Request: {
    ...{ wrapper: 'request', tableOf: createRequestTable },
    example: { accept: ['text'], message: 'The password of the old router, please.' },
  },
  Webhook: {
    ...{ wrapper: 'webhook', tableOf: () => createWebhookTable([]) },
    example: { url: 'https://ntfy.sh/my-topic', format: 'ntfy', events: ['push.opened'] },
  },
  PreviousPush: { ...OF_PUSH, wrapper: 'password', example: TEXT_EXAMPLE },
  PreviousFilePush: {
    ...{ ...OF_PUSH, wrapper: 'file_push' },
    example: { files: [{ filename: 'hello.txt', data: 'SGVsbG8=' }] },
  },
  PreviousUrlPush: { ...OF_PUSH, wrapper: 'url', example: { payload: 'https://example.org/' } },
} satisfies Record<string, Body>

export type BodyName = keyof typeof BODIES

const LIBERAL =
  'Unknown members are ignored. Values are read liberally: `"7"` is 7, `"on"` and 1 are true, and `null` means "not given".'

type Members = [string, TSchema][]

/** The schemas to which `describeBody` refers. */
export function createRequests(limits: PushLimits) {
  const schemas = Object.entries<Body>(BODIES).flatMap(([name, { wrapper, tableOf, like }]) => {
    const members = schemasOf(tableOf(limits))
    const fields = { ...objectOf(members), description: LIBERAL }
    return [
      ...(like === undefined ? [[`${name}Fields`, fields]] : []),
      [`${name}Form`, formIn(wrapper, members)],
    ]
  })
  return Object.fromEntries(schemas)
}

function schemasOf(table: Record<string, { schema: TSchema }>): Members {
  return Object.entries(table).map(([name, { schema }]) => [name, schema])
}

function objectOf(members: Members) {
  return Type.Partial(Type.Object(Object.fromEntries(members)))
}

/** The same members under names with brackets, and files as parts. */
function formIn(wrapper: string, members: Members) {
  return objectOf(
    members.map(([name, schema]) =>
      name === 'files' ? [`${wrapper}[files][]`, partsFor(schema)] : [`${wrapper}[${name}]`, schema],
    ),
  )
}

function partsFor({ maxItems, description }: TSchema) {
  const file = Type.String({ format: 'binary' })
  return Type.Array(file, { maxItems, description: `Only as multipart/form-data. ${description}` })
}

/** The `requestBody` member of an OpenAPI operation: an object in the wrapper, or the same fields as a form. */
export function describeBody(name: BodyName) {
  const { wrapper, example, like }: Body = BODIES[name]
  const fields = { $ref: `#/components/schemas/${like ?? name}Fields` }
  const formFields = { schema: { $ref: `#/components/schemas/${name}Form` } }
  return {
    required: true,
    content: {
      'application/json': {
        schema: { type: 'object', required: [wrapper], properties: { [wrapper]: fields } },
        example: { [wrapper]: example },
      },
      'application/x-www-form-urlencoded': formFields,
      'multipart/form-data': formFields,
    },
  }
}
