// The OpenAPI operations of the previous version: those of version 2 with other names, bodies and texts.

import { describeAnswer, OPERATIONS } from '../operations.ts'
import { describeBody, TEXT_EXAMPLE } from '../request-tables.ts'

const TAG = 'Previous version'

const FILE_EXAMPLE = { files: [{ filename: 'hello.txt', data: 'SGVsbG8=' }] }

const FAMILIES = {
  p: { wrapper: 'password', of: 'push', name: 'PreviousPush', example: TEXT_EXAMPLE },
  f: { wrapper: 'file_push', of: 'file push', name: 'PreviousFilePush', example: FILE_EXAMPLE },
  r: {
    wrapper: 'url',
    of: 'URL push',
    name: 'PreviousUrlPush',
    example: { payload: 'https://example.org/' },
  },
} as const

const LENIENT =
  'A body without a content type is read as a form, or as JSON when it begins with `{`. Fields in the query count, too:'

const REFUSED_PASSPHRASE =
  'A token or a passphrase is missing or not valid. For a passphrase, `error` always is "This push has a passphrase that was incorrect or not provided."; `message` says which.'

type Operation = { operationId: string; responses: object }

function operationsOf({ wrapper, of, name, example }: (typeof FAMILIES)[keyof typeof FAMILIES]) {
  const previous = (operation: Operation, changes: object = {}) => {
    const operationId = operation.operationId.replace(/Push(es)?$/, name)
    return { ...operation, tags: [TAG], operationId, ...changes }
  }
  const answering = (operation: Operation, answers: object) =>
    previous(operation, { responses: { ...operation.responses, ...answers } })
  const { create, retrieve, expire, preview, audit, active, expired } = OPERATIONS
  return {
    create: previous(create, {
      summary: `Create a ${of}`,
      description: `${LENIENT} \`${wrapper}[expire_after_days]=3\` in the query counts if the body lacks it.`,
      requestBody: describeBody('Push', { wrapper, form: `${name}Form`, example }),
    }),
    retrieve: answering(retrieve, { 401: describeAnswer('PassphraseError', REFUSED_PASSPHRASE) }),
    expire: previous(expire),
    preview: previous(preview),
    audit: answering(audit, { 200: describeAnswer('PreviousAuditLog', 'The entries.') }),
    active: previous(active, { description: 'Also at `/en/d/active.json`, with any language.' }),
    expired: previous(expired, { description: 'Also at `/en/d/expired.json`, with any language.' }),
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
    200: describeAnswer('PreviousVersion', 'About this instance.'),
  },
}
