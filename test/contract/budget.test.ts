// How many statements each request takes on both engines, and how many transactions that change something. A
// second one fails the test, unless its row allows it.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { MINUTE } from '../../src/domain/time.ts'
import { type Api, PUSHES, startApi } from '../support/api.ts'
import { openTestBucket } from '../support/bucket.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { needs } from '../support/needs.ts'
import { startTestPostgres } from '../support/postgres.ts'
import { makeNodeFolder } from '../support/postgres-store.ts'
import { type Recorded, type Recorder, recordSent, recordStatements } from '../support/recorded-statements.ts'
import { waitUntil } from '../support/waiting.ts'
import { startReceiver, type WebhookReceiver } from '../support/webhooks.ts'

/** An instance on one engine; `hooked` is an account with a webhook. */
type World = { api: Api; token: string; hooked: string; recorder: Recorder; close(): Promise<void> }
type Opened = Pick<World, 'api' | 'recorder' | 'close'>

const START_MS = 120_000
const PASSPHRASE = { 'x-push-passphrase': 'open' }
const FILE = { filename: 'a.txt', data: Buffer.from('a file').toString('base64') }

type Send = (soFar: Recorded) => Promise<unknown>
type Cost = [statements: number, transactions: number]
/**
 * `prepare` creates what the request needs, and returns the request to measure. `isByLink`: PostgreSQL needs
 * one statement more, because it locks a row of one table by its link.
 */
type Row = { cost: Cost; isByLink?: true; prepare: (world: World) => Promise<Send> }

const COSTS: Record<string, Row> = {
  create: {
    cost: [8, 1],
    prepare:
      async ({ api }) =>
      () =>
        post(api, {}),
  },
  'create of an account': {
    cost: [10, 1],
    prepare:
      async ({ api, token }) =>
      () =>
        post(api, {}, token),
  },
  retrieve: {
    cost: [4, 1],
    isByLink: true,
    prepare: retrieveOf({}, null),
  },
  'retrieve of an owned push': {
    cost: [9, 1],
    isByLink: true,
    prepare: retrieveOf({}),
  },
  'retrieve, the last view': {
    cost: [19, 1],
    isByLink: true,
    prepare: retrieveOf({ expire_after_views: 1 }),
  },
  'retrieve with its passphrase': {
    cost: [6, 1],
    prepare: retrieveOf({ passphrase: 'open' }, null, PASSPHRASE),
  },
  'retrieve of an owned push with its passphrase': {
    cost: [11, 1],
    prepare: retrieveOf({ passphrase: 'open' }, 'token', PASSPHRASE),
  },
  'retrieve without the passphrase': {
    cost: [4, 1],
    isByLink: true,
    prepare: retrieveOf({ passphrase: 'open' }),
  },
  'retrieve with files': {
    cost: [12, 1],
    isByLink: true,
    prepare: retrieveOf({ files: [FILE] }),
  },
  preview: {
    cost: [1, 0],
    prepare: async ({ api, token }) => {
      const urlToken = await post(api, {}, token)
      return () => get(api, `${PUSHES}/${urlToken}/preview`)
    },
  },
  'a page of the list': {
    cost: [3, 0],
    prepare:
      async ({ api, token }) =>
      () =>
        get(api, `${PUSHES}/active`, { token }),
  },
  'an answer with a file': {
    cost: [28, 2],
    prepare: async ({ api, token }) => {
      const request = { accept: ['text', 'files'], max_answers: 3 }
      const { body } = await api.call<{ url_token: string }>('/api/oncebox/requests', {
        token,
        json: { request },
      })
      const json = { push: { payload: 'an answer', files: [FILE] } }
      return () => api.call(`/api/oncebox/requests/${body.url_token}/answers`, { json })
    },
  },
  'retrieve that a webhook hears of, and the delivery': {
    cost: [15, 3],
    isByLink: true,
    prepare: async (world) => {
      const send = await retrieveOf({}, 'hooked')(world)
      return async (soFar) => {
        await send(soFar)
        await waitUntil(() => soFar.statements.some((sql) => sql.startsWith('DELETE FROM outbox WHERE id')))
      }
    },
  },
}

async function post(api: Api, push: Record<string, unknown>, token?: string): Promise<string> {
  const json = { push: { payload: 'a secret', ...push } }
  const { status, text, body } = await api.call<{ url_token: string }>(PUSHES, {
    json,
    ...(token === undefined ? {} : { token }),
  })
  if (status !== 201) throw new Error(`${status} ${text}`)
  return body.url_token
}

async function get(api: Api, path: string, init = {}): Promise<void> {
  const { status, text } = await api.call(path, init)
  if (status !== 200 && status !== 401) throw new Error(`${status} ${text}`)
}

function retrieveOf(
  push: Record<string, unknown>,
  by: 'token' | 'hooked' | null = 'token',
  headers = {},
): Row['prepare'] {
  return async (world) => {
    const urlToken = await post(world.api, push, by === null ? undefined : world[by])
    return () => get(world.api, `${PUSHES}/${urlToken}`, { headers })
  }
}

async function openSqlite(flags: Record<string, string>): Promise<Opened> {
  const recorder = recordStatements()
  const api = await startApi({ flags, lookEvery: MINUTE })
  const close = async () => {
    recorder.stop()
    await api.close()
  }
  return { api, recorder, close }
}

async function openPostgres(flags: Record<string, string>): Promise<Opened> {
  const postgres = await startTestPostgres()
  const database = await postgres.newDatabase()
  const proxy = await startFaultProxy(postgres.server.port)
  const bucket = await openTestBucket()
  const folder = makeNodeFolder()
  const { accessKeyId, secretAccessKey } = bucket.credentials
  const api = await startApi({
    dataDir: folder.dataDir,
    lookEvery: MINUTE,
    env: { ONCEBOX_S3_ACCESS_KEY_ID: accessKeyId, ONCEBOX_S3_SECRET_ACCESS_KEY: secretAccessKey },
    flags: {
      ...flags,
      'key-file': join(folder.dataDir, '..', 'instance.key'),
      'database-url': `${database.address.replace(/@127\.0\.0\.1:\d+/, `@127.0.0.1:${proxy.port}`)}?sslmode=disable`,
      'files-url': bucket.url,
    },
  })
  const close = async () => {
    for (const part of [api, proxy, database, bucket]) await part.close()
    await postgres.stop()
    folder.remove()
  }
  return { api, recorder: recordSent(proxy), close }
}

/** Tests each row of the table on one engine. */
function testCosts(open: (flags: Record<string, string>) => Promise<Opened>, moreByLink: number): void {
  let receiver: WebhookReceiver
  let world: World
  beforeAll(async () => {
    receiver = await startReceiver()
    const opened = await open({ 'webhook-hosts': receiver.host })
    const { api } = opened
    world = {
      ...opened,
      token: await api.addAccount('ann@example.org'),
      hooked: await api.addAccount('bob@example.org'),
    }
    const webhook = { url: receiver.url(), events: ['push.opened'] }
    await api.call('/api/oncebox/webhooks', { token: world.hooked, json: { webhook } })
    // The first request of a minute records, after its answer, that the token is in use.
    for (const token of [world.token, world.hooked]) await get(api, `${PUSHES}/active`, { token })
    await post(api, {}, world.token)
  }, START_MS)
  afterAll(async () => {
    await world?.close()
    receiver?.close()
  })

  test.each(Object.entries(COSTS))(
    '%s',
    async (_, row) => {
      const send = await row.prepare(world)
      const { statements, transactions } = await world.recorder.during(send)
      const more = row.isByLink === true ? moreByLink : 0
      expect([statements.length - more, transactions]).toEqual(row.cost)
    },
    START_MS,
  )
}

describe('on SQLite', () => testCosts(openSqlite, 0))
needs('postgres').describe('on PostgreSQL', () => testCosts(openPostgres, 1))
