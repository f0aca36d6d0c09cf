// The bodies of requests as the reference shows them: the members of each as JSON and as forms.

import { MAX_QR_CHARACTERS, type PushLimits } from '../domain/new-push.ts'
import { type TSchema, Type } from '../http/intake/members.ts'
import { createEditTable, createLinkMailTable } from '../http/intake/push-edit.ts'
import { createPushTable } from '../http/intake/push-input.ts'
import { createAnswerTable } from '../http/intake/receiving.ts'
import { createRequestTable } from '../http/intake/request-input.ts'
import { createWebhookTable } from '../http/intake/webhook-input.ts'
import { WEB_ADDRESS_PATTERN } from '../text/web-address.ts'

const TEXT_EXAMPLE = { payload: 'correct horse battery staple' }

type Body = {
  /** The name of the object around the members. */
  wrapper: string
  tableOf: (limits: PushLimits) => Record<string, { schema: TSchema }>
  /** The required members; one of the alternatives is enough. */
  waysTo?: (limits: PushLimits) => Record<string, TSchema>[]
  /** Whether unknown members are refused, in JSON and in the brackets of a form. */
  isClosed?: true
  /** A member with a list: a form repeats its name. Some clients repeat it only if the document says so. */
  list?: string
  /** A member that a form may send without the brackets, too. */
  plain?: string
  /** Another kind of body with the same members. */
  like?: 'Push'
  example: object
}

const someText = (options = {}) => Type.String({ pattern: '\\S', ...options })
const SOME_FILES = Type.Array(Type.Any(), { minItems: 1 })
const ofKind = (kind: string) => Type.String({ enum: [kind] })

/** Matches the first line of age's armor. The rest is checked when the request arrives. */
const SEALED_TEXT = someText({ pattern: '^\\s*-----BEGIN AGE ENCRYPTED FILE-----' })
const isSealed = (sealed: boolean) => Type.Unsafe<boolean>({ type: 'boolean', enum: [sealed] })
const SEALED = { end_to_end: isSealed(true) }
const UNSEALED = { end_to_end: Type.Optional(isSealed(false)) }
/** Forbids the members that only an end-to-end push may have. */
const PLAIN = {
  ...UNSEALED,
  key_check: Type.Optional(Type.Not(Type.Any())),
  recipients_only: Type.Optional(isSealed(false)),
}

/** The required members of each kind; a text or files need not name their kind. */
const WAYS_TO_PUSH = {
  text: { payload: someText(), kind: Type.Optional(ofKind('text')) },
  file: { files: SOME_FILES, kind: Type.Optional(ofKind('file')) },
  url: { payload: someText({ pattern: WEB_ADDRESS_PATTERN }), kind: ofKind('url') },
  qr: { payload: someText({ maxLength: MAX_QR_CHARACTERS }), kind: ofKind('qr') },
}

function waysToPush({ kinds, endToEnd }: PushLimits): Record<string, TSchema>[] {
  const plain = [...kinds].map((kind) => ({ ...WAYS_TO_PUSH[kind], ...PLAIN }))
  const { text, file } = WAYS_TO_PUSH
  const files = kinds.has('file') ? [{ ...file, ...SEALED }] : []
  const sealed = [{ ...text, payload: SEALED_TEXT, ...SEALED }, ...files]
  return [...(endToEnd === 'required' ? [] : plain), ...(endToEnd === 'off' ? [] : sealed)]
}

const OF_PUSH = { tableOf: createPushTable, waysTo: waysToPush, like: 'Push' } as const

/** The bodies, by their names in the reference. */
const BODIES = {
  Push: { wrapper: 'push', tableOf: createPushTable, waysTo: waysToPush, example: TEXT_EXAMPLE },
  PushEdit: {
    ...{ wrapper: 'push', tableOf: createEditTable, isClosed: true },
    example: { name: 'VPN for Cleo', expire_after_views: 1 },
  },
  LinkMail: {
    ...{ wrapper: 'push', tableOf: createLinkMailTable, waysTo: () => [{ notify_emails_to: someText() }] },
    example: { notify_emails_to: 'ann@example.org, bob@example.org', notify_emails_to_locale: 'de' },
  },
  Answer: {
    ...{ wrapper: 'push', tableOf: createAnswerTable, isClosed: true, plain: 'payload' },
    waysTo: () => [
      { payload: someText(), ...UNSEALED },
      { payload: SEALED_TEXT, ...SEALED },
      { files: SOME_FILES },
    ],
    example: TEXT_EXAMPLE,
  },
  Request: {
    ...{ wrapper: 'request', tableOf: createRequestTable, list: 'accept' },
    example: { accept: ['text'], message: 'The password of the old router, please.' },
  },
  Webhook: {
    ...{ wrapper: 'webhook', tableOf: () => createWebhookTable([]), list: 'events' },
    waysTo: () => [{ url: someText() }],
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

const LIBERAL = 'Values are read liberally: `"7"` is 7, `"on"` and 1 are true, and `null` means "not given".'

type Members = [string, TSchema][]

/** The schemas to which `describeBody` refers. */
export function createRequests(limits: PushLimits) {
  const schemas = Object.entries<Body>(BODIES).flatMap(([name, body]) => {
    const { wrapper, tableOf, waysTo = () => [], isClosed = false, like } = body
    const members = schemasOf(tableOf(limits))
    const ways = waysTo(limits).map((way) => Object.entries(way))
    const plain = members.filter(([member]) => member === body.plain)
    const plainWays = plain.map(([member]): Members => [[member, someText()]])
    const waysOfForm = [...ways.map((way) => inBrackets(wrapper, way)), ...plainWays]
    const others = isClosed ? 'Other members are refused.' : 'Unknown members are ignored.'
    const fields = { ...objectOf(members, ways), description: `${others} ${LIBERAL}` }
    return [
      ...(like === undefined ? [[`${name}Fields`, { ...fields, additionalProperties: !isClosed }]] : []),
      [`${name}Form`, objectOf([...inBrackets(wrapper, members), ...plain], waysOfForm)],
    ]
  })
  return Object.fromEntries(schemas)
}

function schemasOf(table: Record<string, { schema: TSchema }>): Members {
  return Object.entries(table).map(([name, { schema }]) => [name, schema])
}

/** Describes an object whose members are optional, except that one of the alternatives must be complete. */
function objectOf(members: Members, ways: Members[]) {
  const anyOf = ways.map((way) => Type.Object(Object.fromEntries(way)))
  const needed = anyOf.length > 1 ? { anyOf } : { required: anyOf[0]?.required }
  return { ...Type.Partial(Type.Object(Object.fromEntries(members))), ...needed }
}

/** Returns the members under names with brackets, with files as parts. */
function inBrackets(wrapper: string, members: Members): Members {
  return members.map(([name, schema]) =>
    name === 'files' ? [`${wrapper}[files][]`, partsFor(schema)] : [`${wrapper}[${name}]`, schema],
  )
}

function partsFor({ minItems, maxItems, description }: TSchema) {
  const file = Type.String({ format: 'binary' })
  const options = { minItems, maxItems, description: `Only as multipart/form-data. ${description ?? ''}` }
  return Type.Array(file, options)
}

/**
 * Returns the `requestBody` of an OpenAPI operation: an object in the wrapper, or the same fields as a form.
 */
export function describeBody(name: BodyName) {
  const { wrapper, example, like, list }: Body = BODIES[name]
  const fields = { $ref: `#/components/schemas/${like ?? name}Fields` }
  const encoding = list === undefined ? {} : { [`${wrapper}[${list}]`]: { style: 'form', explode: true } }
  const formFields = { schema: { $ref: `#/components/schemas/${name}Form` }, encoding }
  return {
    required: true,
    content: {
      'application/json': {
        schema: { type: 'object' as const, required: [wrapper], properties: { [wrapper]: fields } },
        example: { [wrapper]: example },
      },
      'application/x-www-form-urlencoded': formFields,
      'multipart/form-data': formFields,
    },
  }
}
