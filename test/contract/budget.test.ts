// How many statements and transactions each request costs on SQLite: a second transaction is a red line here.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Api, PUSHES, startApi } from '../support/api.ts'
import { recordStatements } from '../support/recorded-statements.ts'

let recording: ReturnType<typeof recordStatements>
let api: Api
let token = ''

beforeAll(async () => {
  recording = recordStatements()
  api = await startApi()
  token = await api.addAccount('ann@example.org')
  // The first request of a minute records, after its answer, that the token is in use.
  await api.call(`${PUSHES}/active`, { token })
  await api.call(PUSHES, { token, json: { push: { payload: 'a secret' } } })
})
afterAll(async () => {
  recording.stop()
  await api.close()
})

const PASSPHRASE = { 'x-push-passphrase': 'open' }

async function create(push: Record<string, unknown> = {}): Promise<string> {
  const { status, text, body } = await api.call<{ url_token: string }>(PUSHES, {
    token,
    json: { push: { payload: 'a secret', ...push } },
  })
  if (status !== 201) throw new Error(`${status} ${text}`)
  return body.url_token
}

const file = { filename: 'a.txt', data: Buffer.from('a file').toString('base64') }

async function ask(): Promise<string> {
  const json = { request: { accept: ['text', 'files'], max_answers: 3 } }
  const { body } = await api.call<{ url_token: string }>('/api/oncebox/requests', { token, json })
  return body.url_token
}

/** `prepare` creates what the request needs, and returns the request that is measured. */
const COSTS: Record<string, { statements: number; transactions: number; prepare: () => Promise<Send> }> = {
  create: {
    ...{ statements: 9, transactions: 1 },
    prepare: async () => () => api.call(PUSHES, { json: { push: { payload: 'a secret' } } }),
  },
  'create of an account': {
    ...{ statements: 10, transactions: 1 },
    prepare: async () => () => api.call(PUSHES, { token, json: { push: { payload: 'a secret' } } }),
  },
  retrieve: {
    ...{ statements: 10, transactions: 1 },
    prepare: async () => {
      const urlToken = await create()
      return () => api.call(`${PUSHES}/${urlToken}`)
    },
  },
  'retrieve, the last view': {
    ...{ statements: 20, transactions: 1 },
    prepare: async () => {
      const urlToken = await create({ expire_after_views: 1 })
      return () => api.call(`${PUSHES}/${urlToken}`)
    },
  },
  'retrieve with its passphrase': {
    ...{ statements: 11, transactions: 1 },
    prepare: async () => {
      const urlToken = await create({ passphrase: 'open' })
      return () => api.call(`${PUSHES}/${urlToken}`, { headers: PASSPHRASE })
    },
  },
  'retrieve without the passphrase': {
    ...{ statements: 5, transactions: 1 },
    prepare: async () => {
      const urlToken = await create({ passphrase: 'open' })
      return () => api.call(`${PUSHES}/${urlToken}`)
    },
  },
  'retrieve with files': {
    ...{ statements: 13, transactions: 2 },
    prepare: async () => {
      const urlToken = await create({ files: [file] })
      return () => api.call(`${PUSHES}/${urlToken}`)
    },
  },
  preview: {
    ...{ statements: 1, transactions: 0 },
    prepare: async () => {
      const urlToken = await create()
      return () => api.call(`${PUSHES}/${urlToken}/preview`)
    },
  },
  'a page of the list': {
    ...{ statements: 4, transactions: 0 },
    prepare: async () => () => api.call(`${PUSHES}/active`, { token }),
  },
  'an answer with a file': {
    ...{ statements: 29, transactions: 2 },
    prepare: async () => {
      const request = await ask()
      const json = { push: { payload: 'an answer', files: [file] } }
      return () => api.call(`/api/oncebox/requests/${request}/answers`, { json })
    },
  },
}

type Send = () => Promise<{ status: number }>

test.each(Object.entries(COSTS))('%s', async (_, { prepare, ...cost }) => {
  const send = await prepare()
  const recorded = await recording.during(send)
  expect({ statements: recorded.statements.length, transactions: recorded.transactions }).toEqual(cost)
})
