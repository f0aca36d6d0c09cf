// The rows that each request may leave, by endpoint and role: with free space, and below the floor of free
// space.

import { afterEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { MOST_WEBHOOKS } from '../../src/domain/outbox.ts'
import { type Api, startApi } from '../support/api.ts'
import {
  countRows,
  ENDPOINTS,
  type EveryRequest,
  hammer,
  prepareEveryRequest,
  ROLES,
  type Role,
  readAndDelete,
} from '../support/every-request.ts'
import { needs } from '../support/needs.ts'
import { createPeople } from '../support/people.ts'
import { mountSmallDisk } from '../support/tmpfs.ts'

type Rows = Record<string, number>

const FLAGS = {
  signups: 'true',
  'webhook-hosts': 'hooks.example.org',
  'smtp-url': 'smtp://127.0.0.1:9',
  'mail-from': 'once@example.org',
  'base-url': 'http://localhost',
}
const RATE = { rateLimit: { requests: 1_000_000, seconds: 10 } }
const TIMES = 2

/** The rows of an event: messages to the webhooks of the account and of the administrators. */
const TOLD = { event_counts: 1, events: 1, outbox: 2 * MOST_WEBHOOKS }
/** The limit is the number of views of the push. */
const VIEW = { audit_entries: 1, ...TOLD }
/** The limit is one request per push. */
const END = { audit_entries: 1, ...TOLD }
/** The limit is the number of live shares of an address (`live_shares`) or of an owner. */
const PUSH = {
  ...{ pushes: 1, push_state: 1, push_secrets: 1, push_keys: 1, push_labels: 1, audit_entries: 1 },
  ...{ live_shares: 1, address_shares: 1 },
}
const KEYED = { idempotency_keys: 1, idempotency_answers: 1 }

const VIEWS: Record<string, Rows> = {
  'GET /api/v2/pushes/:url_token': VIEW,
  'GET /p/:url_token.json': VIEW,
  'GET /f/:url_token.json': VIEW,
  'GET /r/:url_token.json': VIEW,
  'POST /p/:url_token': { ...VIEW, spent_points: 1 },
  'POST /p/:url_token/r': { ...VIEW, spent_points: 1 },
}
const ENDS: Record<string, Rows> = {
  'DELETE /api/v2/pushes/:url_token': END,
  'DELETE /p/:url_token.json': END,
  'DELETE /f/:url_token.json': END,
  'DELETE /r/:url_token.json': END,
  'POST /p/:url_token/expire': END,
  'POST /pushes/:url_token/expire': END,
}
/** The limit is the number of sessions of an account. */
const SIGN_INS: Record<string, Rows> = { 'POST /sign-in': { sessions: 1 } }

/** How many rows one request may leave below the floor of free space. All other requests leave none. */
const BELOW_THE_FLOOR: Record<Role, Record<string, Rows>> = {
  stranger: {},
  recipient: { ...VIEWS, ...ENDS },
  guesser: ENDS,
  owner: { ...VIEWS, ...ENDS, ...SIGN_INS },
}

/** How many rows one request may leave while there is free space. */
const WITH_ROOM: Record<string, Rows> = {
  ...ENDS,
  'POST /api/v2/pushes': PUSH,
  'POST /p.json': PUSH,
  'POST /f.json': PUSH,
  'POST /r.json': PUSH,
  'POST /': { ...PUSH, ...KEYED, preferences: 1 },
  'POST /api/oncebox/requests/:url_token/answers': { ...PUSH, ...TOLD },
  'POST /q/:url_token': { ...PUSH, ...KEYED, ...TOLD },
  'PATCH /api/v2/pushes/:url_token': { audit_entries: 1 },
  'POST /pushes/:url_token/edit': { audit_entries: 1 },
  // The limit is the number of an account's messages in an hour, which is counted in one row.
  'POST /api/v2/pushes/:url_token/notify_emails': { audit_entries: 1, outbox: 1, spent_points: 2 },
  'POST /account/mail/test': { spent_points: 2 },
  'POST /api/oncebox/requests': { requests: 1 },
  'POST /requests': { requests: 1 },
  'POST /api/oncebox/webhooks': { webhooks: 1 },
  'POST /account/webhooks': { webhooks: 1 },
  'POST /admin/webhooks': { webhooks: 1 },
  // Tries are counted for fifteen minutes: by address, by account, and by both.
  'POST /sign-in': { sessions: 1, spent_points: 4 },
  'POST /sign-in/code': { spent_points: 2 },
  'POST /sign-in/forgot': { account_links: 1, outbox: 1, spent_points: 4 },
  'POST /sign-up': { accounts: 1, sessions: 1, spent_points: 2 },
  'GET /welcome/:link': { spent_points: 1 },
  'POST /welcome/:link': { spent_points: 1 },
  'POST /users/token': { api_tokens: 1, spent_points: 4 },
  'POST /account/password': { spent_points: 4 },
  'POST /account/two-factor': { spent_points: 4 },
  'POST /account/two-factor/off': { spent_points: 4 },
  'POST /account/message': { preferences: 1 },
  'POST /account/mail': { preferences: 1 },
  'POST /account/age-key': { preferences: 1 },
  'POST /admin/invitations': { account_links: 1, outbox: 1, spent_points: 3 },
  'POST /admin/accounts/:id/reset': { account_links: 1, spent_points: 1 },
  'POST /admin/appearance': { appearance: 1 },
}
/** A failed visit is an entry in the log of an owned push. The log keeps the first hundreds of them. */
const FAILED = { audit_entries: 1 }

function allowedWithRoom(role: Role, name: string): Rows {
  const views = role === 'guesser' ? VIEWS[name] && FAILED : VIEWS[name]
  return { ...WITH_ROOM[name], ...views }
}

/** Returns the requests that left more rows than the table allows. */
async function findGrowth(api: Api, prepared: EveryRequest, { isBelow }: { isBelow: boolean }) {
  const found: string[] = []
  for (const endpoint of ENDPOINTS)
    for (const role of ROLES) {
      const name = `${endpoint.method} ${endpoint.path}`
      const allowed = isBelow ? (BELOW_THE_FLOOR[role][name] ?? {}) : allowedWithRoom(role, name)
      const grown = await hammer(api, prepared, { endpoint, role, times: TIMES })
      for (const [table, rows] of Object.entries(grown))
        if (rows > TIMES * (allowed[table] ?? 0)) found.push(`${role} ${name}: ${rows} ${table}`)
    }
  return found
}

describe('database growth', () => {
  const ends: (() => unknown)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })
  const start = async (options: Parameters<typeof startApi>[0]) => {
    const api = await startApi({ ...RATE, ...options })
    ends.push(api.stop)
    return api
  }

  test('with free space stays within the table, for every request', async () => {
    const api = await startApi({ ...RATE, flags: FLAGS })
    ends.push(api.close)
    expect(await findGrowth(api, await prepareEveryRequest(api), { isBelow: false })).toEqual([])
  }, 300_000)

  needs('mount').test(
    'below the floor is limited to views, deletes and sign-ins, while reading and deleting still work',
    async () => {
      const disk = mountSmallDisk('24m')
      ends.push(disk.remove)
      const dataDir = join(disk.path, 'data')
      const first = await startApi({ ...RATE, flags: FLAGS, dataDir })
      const prepared = await prepareEveryRequest(first)
      await first.stop()
      const api = await start({ flags: { ...FLAGS, 'min-free-space': '1TiB' }, dataDir })
      // Count after the first request of the process, which adds rows.
      const rows = countRows(api)
      await createPeople(api).post('/sign-in', { email: 'x@example.org', password: 'wrong' })
      expect(countRows(api)).toEqual(rows)
      expect(await findGrowth(api, prepared, { isBelow: true })).toEqual([])
      expect(await readAndDelete(api, prepared)).toEqual([200, 'correct horse', 200])
    },
    300_000,
  )
})
