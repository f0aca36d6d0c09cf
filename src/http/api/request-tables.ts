// The bodies of requests as the reference shows them: the table of a new push as JSON and as forms.

import { type TSchema, Type } from 'typebox'
import type { PushLimits } from '../../domain/new-push.ts'
import { createPushTable } from '../intake/push-table.ts'

/** By the names that the reference gives them. */
export function createRequests(limits: PushLimits) {
  const table = createPushTable(limits)
  const schemas = Object.entries(table).map(([name, { schema }]): [string, TSchema] => [name, schema])
  const objectOf = (members: [string, TSchema][]) => Type.Partial(Type.Object(Object.fromEntries(members)))

  /** The same members under names with brackets, and files as parts. */
  function formIn(wrapper: string) {
    const members = schemas.map(([name, schema]): [string, TSchema] =>
      name === 'files' ? [`${wrapper}[files][]`, partsFor(schema)] : [`${wrapper}[${name}]`, schema],
    )
    return objectOf(members)
  }

  return {
    PushFields: { ...objectOf(schemas), description: 'Unknown members are ignored.' },
    PushForm: formIn('push'),
    PreviousPushForm: formIn('password'),
    PreviousFilePushForm: formIn('file_push'),
    PreviousUrlPushForm: formIn('url'),
  }
}

export type RequestName = keyof ReturnType<typeof createRequests>

function partsFor({ maxItems, description }: TSchema) {
  const file = Type.String({ format: 'binary' })
  return Type.Array(file, { maxItems, description: `Only as multipart/form-data. ${description}` })
}

type Body = { wrapper: string; form: RequestName; example: object }

export const TEXT_EXAMPLE = { payload: 'correct horse battery staple' }

/** The body of a create: an object in `wrapper`, or the same fields as a form. */
export function describeBody({ wrapper, form, example }: Body) {
  const fields = { $ref: '#/components/schemas/PushFields' }
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
