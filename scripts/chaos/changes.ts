// The kinds of changes that clients request, and what must be true after each, whether its answer arrived or
// was lost.

import type { Office } from '../../test/support/nodes.ts'
import type { Body, Client } from './client.ts'

type Place = { client: Client; office: Office }

export type Change = {
  path: string
  init: RequestInit
  /** The expected status. */
  status: number
  /**
   * Resolves to a description of the fault. `body`: the body of the expected answer; null after any other
   * answer.
   */
  check: (body: Body | null) => Promise<string | null>
}

export type Kind = { name: string; prepare: (place: Place) => Promise<Change> }

const JSON_TYPE = { 'content-type': 'application/json' }
const post = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { ...JSON_TYPE, ...headers },
  body: JSON.stringify(body),
})
const pathOf = (urlToken: string | undefined) => `/api/v2/pushes/${urlToken}`
const FILE = 'f'.repeat(40_000)

export const KINDS: readonly Kind[] = [
  {
    name: 'create',
    prepare: async ({ client, office }) => {
      const payload = crypto.randomUUID()
      const init = post(
        { push: { payload, expire_after_views: 1 } },
        { 'idempotency-key': crypto.randomUUID() },
      )
      const before = await countPushes(office)
      const check = async (body: Body | null) => {
        const again = (await client.ask('/api/v2/pushes', init)).body
        if (body !== null && body.url_token !== again.url_token) return 'the same key made another push'
        const made = (await countPushes(office)) - before
        if (made !== 1) return `${made} pushes were made`
        return expectPayloads(client, again.url_token, { payload, least: 1, most: 1 })
      }
      return { path: '/api/v2/pushes', init, status: 201, check }
    },
  },
  {
    name: 'create with a file',
    prepare: async ({ client, office: { auth } }) => {
      const payload = crypto.randomUUID()
      const files = [{ filename: 'a.bin', data: btoa(FILE) }]
      const init = post({ push: { payload, files } }, { 'idempotency-key': crypto.randomUUID(), ...auth })
      const check = async (body: Body | null) => {
        const again = (await client.ask('/api/v2/pushes', init)).body
        if (body !== null && body.url_token !== again.url_token) return 'the same key made another push'
        const { files = [] } = (await client.ask(pathOf(again.url_token))).body
        const [file] = files
        const bytes = file === undefined ? '' : await (await fetch(file.url)).text()
        return files.length === 1 && bytes === FILE
          ? null
          : `it has ${files.length} files of ${bytes.length} bytes`
      }
      return { path: '/api/v2/pushes', init, status: 201, check }
    },
  },
  {
    name: 'claim of the only view',
    prepare: ({ client }) => prepareClaim(client, 1),
  },
  {
    name: 'claim of one view of three',
    prepare: ({ client }) => prepareClaim(client, 3),
  },
  {
    name: 'delete',
    prepare: async ({ client, office: { auth } }) => {
      const { body } = await client.create({ payload: 'to be deleted' }, auth)
      const init = { method: 'DELETE', headers: auth }
      const check = async (deleted: Body | null) => {
        if (deleted === null) await client.ask(pathOf(body.url_token), init)
        const { payload } = (await client.ask(pathOf(body.url_token))).body
        return payload === null ? null : 'it opens after it was deleted'
      }
      return { path: pathOf(body.url_token), init, status: 200, check }
    },
  },
  {
    name: 'wrong passphrase',
    prepare: async ({ client }) => {
      const payload = crypto.randomUUID()
      const { body } = await client.create({ payload, passphrase: 'right', expire_after_views: 1 })
      const path = pathOf(body.url_token)
      const token = `${body.url_token}?passphrase=right`
      const check = () => expectPayloads(client, token, { payload, least: 1, most: 1 })
      return { path: `${path}?passphrase=wrong`, init: {}, status: 401, check }
    },
  },
  {
    name: 'right passphrase',
    prepare: async ({ client }) => {
      const payload = crypto.randomUUID()
      const { body } = await client.create({ payload, passphrase: 'right', expire_after_views: 1 })
      const token = `${body.url_token}?passphrase=right`
      return claimOf(client, { token, payload, views: 1 })
    },
  },
  {
    name: 'edit',
    prepare: async ({ client, office: { auth } }) => {
      const { body } = await client.create({ payload: 'to be edited' }, auth)
      const init = { ...post({ push: { note: 'edited' } }, auth), method: 'PATCH' }
      const check = async (edited: Body | null) => {
        if (edited === null) await client.ask(pathOf(body.url_token), init)
        return null
      }
      return { path: pathOf(body.url_token), init, status: 200, check }
    },
  },
  {
    name: 'sign-in',
    prepare: async ({ client, office: { account } }) => {
      const form = new URLSearchParams(account)
      const init: RequestInit = { method: 'POST', body: form, redirect: 'manual' }
      const check = async (signedIn: Body | null) => {
        if (signedIn !== null) return null
        const { status } = await client.ask('/sign-in', init)
        return status === 303 ? null : `signing in again answered ${status}`
      }
      return { path: '/sign-in', init, status: 303, check }
    },
  },
]

async function prepareClaim(client: Client, views: number): Promise<Change> {
  const payload = crypto.randomUUID()
  const { body } = await client.create({ payload, expire_after_views: views })
  return claimOf(client, { token: body.url_token ?? '', payload, views })
}

type Claim = { token: string; payload: string; views: number }

/** Retrieves a push and checks its views: an answered view must be counted, an unanswered one may be. */
function claimOf(client: Client, { token, payload, views }: Claim): Change {
  const check = (body: Body | null) => {
    const left = views - 1
    const isGiven = body?.payload === payload
    return expectPayloads(client, token, { payload, least: left, most: isGiven ? left : views })
  }
  return { path: pathOf(token), init: {}, status: 200, check }
}

type Expected = { payload: string; least: number; most: number }

/** Retrieves a push until it has expired. */
async function expectPayloads(
  client: Client,
  token: string | undefined,
  { payload, least, most }: Expected,
): Promise<string | null> {
  let given = 0
  while (given <= most && (await client.ask(pathOf(token))).body.payload === payload) given += 1
  return given >= least && given <= most ? null : `${given} payloads came, of ${least} to ${most}`
}

async function countPushes({ cluster }: Office): Promise<number> {
  const [row] = await cluster.run<{ count: number }>('SELECT count(*)::int AS count FROM oncebox.pushes')
  return row?.count ?? 0
}
