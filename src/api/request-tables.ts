// The bodies of requests as the reference shows them: the table of a new push as JSON and as forms.

import type { PushLimits } from '../domain/new-push.ts'
import { type TSchema, Type } from '../http/intake/members.ts'
import { createEditTable } from '../http/intake/push-edit.ts'
import { createMailTable, createPushTable } from '../http/intake/push-table.ts'
import { createAnswerTable } from '../http/intake/receive-answer.ts'
import { createRequestTable } from '../http/intake/request-input.ts'

const LIBERAL =
  'Unknown members are ignored. Values are read liberally: `"7"` is 7, `"on"` and 1 are true, and `null` means "not given".'

/** By the names that the reference gives them. */
export function createRequests(limits: PushLimits) {
  const schemas = schemasOf(createPushTable(limits))
  const editable = schemasOf(createEditTable(limits))
  const mailed = schemasOf(createMailTable(limits))
  const requested = schemasOf(createRequestTable(limits))
  const answered = schemasOf(createAnswerTable(limits))
  const objectOf = (members: [string, TSchema][]) => Type.Partial(Type.Object(Object.fromEntries(members)))

  /** The same members under names with brackets, and files as parts. */
  function formIn(wrapper: string, of = schemas) {
    const members = of.map(([name, schema]): [string, TSchema] =>
      name === 'files' ? [`${wrapper}[files][]`, partsFor(schema)] : [`${wrapper}[${name}]`, schema],
    )
    return objectOf(members)
  }

  return {
    PushFields: { ...objectOf(schemas), description: LIBERAL },
    PushForm: formIn('push'),
    PushEdit: { ...objectOf(editable), description: LIBERAL },
    PushEditForm: formIn('push', editable),
    LinkMail: objectOf(mailed),
    LinkMailForm: formIn('push', mailed),
    AnswerFields: { ...objectOf(answered), description: LIBERAL },
    AnswerForm: formIn('push', answered),
    RequestFields: { ...objectOf(requested), description: LIBERAL },
    RequestForm: formIn('request', requested),
    PreviousPushForm: formIn('password'),
    PreviousFilePushForm: formIn('file_push'),
    PreviousUrlPushForm: formIn('url'),
  }
}

function schemasOf(table: Record<string, { schema: TSchema }>): [string, TSchema][] {
  return Object.entries(table).map(([name, { schema }]) => [name, schema])
}

export type RequestName = keyof ReturnType<typeof createRequests>

function partsFor({ maxItems, description }: TSchema) {
  const file = Type.String({ format: 'binary' })
  return Type.Array(file, { maxItems, description: `Only as multipart/form-data. ${description}` })
}

type Body = { wrapper: string; fields?: RequestName; form: RequestName; example: object }

export const EDIT_EXAMPLE = { name: 'VPN for Cleo', expire_after_views: 1 }
export const MAIL_EXAMPLE = {
  notify_emails_to: 'ann@example.org, bob@example.org',
  notify_emails_to_locale: 'de',
}
export const REQUEST_EXAMPLE = { accept: ['text'], message: 'The password of the old router, please.' }
export const TEXT_EXAMPLE = { payload: 'correct horse battery staple' }

/** The body of a create or an edit: an object in `wrapper`, or the same fields as a form. */
export function describeBody({ wrapper, fields: name = 'PushFields', form, example }: Body) {
  const fields = { $ref: `#/components/schemas/${name}` }
  const formFields = { schema: { $ref: `#/components/schemas/${form}` } }
  return {
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
