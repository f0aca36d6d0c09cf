// What the reference says of the previous version: the words of this one, under a heading of their own.

import { describeAnswers, OPERATIONS } from '../operations.ts'

const TAG = 'Previous version'

const FAMILIES = {
  p: { wrapper: 'password', of: 'push', name: 'PreviousPush' },
  f: { wrapper: 'file_push', of: 'file push', name: 'PreviousFilePush' },
  r: { wrapper: 'url', of: 'URL push', name: 'PreviousUrlPush' },
} as const

const LENIENT =
  'A body without a content type is read as a form, or as JSON when it begins with `{`. Fields in the query count, too:'

const REFUSED_PASSPHRASE =
  'A token or a passphrase is missing or not valid. For a passphrase, `error` always is "This push has a passphrase that was incorrect or not provided."; `message` says which.'

type Named = { summary: string; operationId: string }

function operationsOf({ wrapper, of, name }: (typeof FAMILIES)[keyof typeof FAMILIES]) {
  const previous = <T extends Named>(operation: T, verb: string) => ({
    ...operation,
    tags: [TAG],
    operationId: `${verb}${name}`,
  })
  return {
    create: {
      ...previous(OPERATIONS.create, 'create'),
      summary: `Create a ${of}`,
      description: `${LENIENT} \`${wrapper}[expire_after_days]=3\` in the query counts where the body does not give it.`,
      requestBody: bodyIn(wrapper),
    },
    retrieve: {
      ...previous(OPERATIONS.retrieve, 'retrieve'),
      responses: {
        ...OPERATIONS.retrieve.responses,
        ...describeAnswers({ 401: { description: REFUSED_PASSPHRASE, schema: 'PassphraseError' } }),
      },
    },
    expire: previous(OPERATIONS.expire, 'expire'),
    preview: previous(OPERATIONS.preview, 'preview'),
    audit: {
      ...previous(OPERATIONS.audit, 'audit'),
      responses: {
        ...OPERATIONS.audit.responses,
        ...describeAnswers({ 200: { description: 'The entries.', schema: 'PreviousAuditLog' } }),
      },
    },
    active: {
      ...previous(OPERATIONS.active, 'listActive'),
      description: 'Also at `/en/d/active.json`, with any language.',
    },
    expired: {
      ...previous(OPERATIONS.expired, 'listExpired'),
      description: 'Also at `/en/d/expired.json`, with any language.',
    },
  }
}

function bodyIn(wrapper: string) {
  const fields = { $ref: '#/components/schemas/PushFields' }
  const formFields = {
    type: 'object',
    properties: {
      [`${wrapper}[payload]`]: { type: 'string' },
      [`${wrapper}[expire_after_days]`]: { type: 'integer' },
      [`${wrapper}[files][]`]: { type: 'array', items: { type: 'string', format: 'binary' } },
    },
  }
  return {
    content: {
      'application/json': {
        schema: { type: 'object', required: [wrapper], properties: { [wrapper]: fields } },
        example: { [wrapper]: { payload: 'correct horse battery staple', expire_after_views: 1 } },
      },
      'application/x-www-form-urlencoded': { schema: formFields },
      'multipart/form-data': { schema: formFields },
    },
  }
}

export const PREVIOUS_OPERATIONS = {
  p: operationsOf(FAMILIES.p),
  f: operationsOf(FAMILIES.f),
  r: operationsOf(FAMILIES.r),
}

export const PREVIOUS_VERSION_OPERATION = {
  ...OPERATIONS.version,
  tags: [TAG],
  summary: 'Version',
  operationId: 'getPreviousVersion',
  responses: {
    ...OPERATIONS.version.responses,
    ...describeAnswers({ 200: { description: 'About this instance.', schema: 'PreviousVersion' } }),
  },
}
