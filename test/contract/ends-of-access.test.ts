// Checks every end of access to an account against every way in, as the table in SECURITY.md promises.

import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openAccounts } from '../../src/app/account-commands.ts'
import { createTrial } from '../cli/trial.ts'
import { type Api, startApi } from '../support/api.ts'
import { alterDatabase } from '../support/damage.ts'
import { createPeople, type People, type Person } from '../support/people.ts'
import { createAuthenticator } from '../support/software-authenticator.ts'
import { waitUntil } from '../support/waiting.ts'
import { startReceiver, type WebhookReceiver } from '../support/webhooks.ts'

const ANN = 'ann@example.org'
const NEXT = 'another long password'

let receiver: WebhookReceiver
beforeAll(async () => {
  receiver = await startReceiver(() => new Response(null, { status: 204 }))
})
afterAll(() => receiver.close())

let api: Api
let people: People
/** The other administrator. */
let root: Person
let given: Awaited<ReturnType<typeof giveAccess>>
beforeEach(async () => {
  api = await startApi({
    flags: {
      'webhook-hosts': receiver.host,
      // No test sends a request to this provider.
      ...{ 'oidc-issuer': 'https://id.example', 'oidc-client-id': 'x', 'base-url': 'http://localhost' },
    },
  })
  people = createPeople(api)
  await api.addAccount('root@example.org', { isAdmin: true })
  root = await people.signIn('root@example.org')
  given = await giveAccess()
})
afterEach(() => api.close())

const linkIn = (text: string) => /localhost(\/welcome\/\w+)</.exec(text)?.[1] ?? 'none'

/** Makes Ann's account, with every way into it. */
async function giveAccess() {
  const token = await api.addAccount(ANN, { isAdmin: true })
  const own = await people.signIn(ANN)
  const key = createAuthenticator()
  await addPasskey(own, key)
  const other = await people.enter(await enterByPasskey(key))
  const id = (await api.accounts().requireAccount(ANN)).id
  const invitation = linkIn((await own.post('/admin/invitations', { email: 'eve@example.org' })).text)
  const { text } = await root.get('/admin')
  const form = text.split(`action="/admin/accounts/${id}/reset"`)[1] ?? ''
  const nonce = /name="nonce" value="([^"]+)"/.exec(form)?.[1] ?? 'none'
  const reset = linkIn((await root.post(`/admin/accounts/${id}/reset`, { nonce })).text)
  await api.call('/api/oncebox/webhooks', { token, json: { webhook: { url: receiver.url() } } })
  const { body: request } = await api.call('/api/oncebox/requests', {
    token,
    json: { request: { max_answers: 9 } },
  })
  const wanted = { expire_after_views: 50, files: [{ filename: 'f.txt', data: 'aGk=' }] }
  const push = await api.create(wanted, { token })
  const [file] = (await api.retrieve(push.url_token)).body.files as { url: string }[]
  const watch = await startWatch(token)
  alterDatabase(api.dataDir, `INSERT INTO identities VALUES ('https://id.example', 'sub-ann', ${id}, 0)`)
  return {
    ...{ id, token, own, other, key, invitation, reset, watch, push: push.url_token },
    ...{ request: String(request.url_token), file: new URL(file?.url ?? '').pathname },
  }
}

type Key = ReturnType<typeof createAuthenticator>

/** Requests a challenge. Resolves to it, and to the cookie that ties it to the browser. */
async function askChallenge(fields: Record<string, string> = {}, cookie = '') {
  const { text, headers } = await people.post('/sign-in/passkey/challenge', fields, { headers: { cookie } })
  const [own = ''] = (headers.get('set-cookie') ?? '').split(';', 1)
  return { call: JSON.parse(text), cookie: [cookie, own].filter(Boolean).join('; ') }
}

async function addPasskey(of: Person, key: Key): Promise<void> {
  const { call, cookie } = await askChallenge({ for: 'add' }, of.cookie)
  const passkey = JSON.stringify(key.create(call))
  expect((await of.post('/account/passkeys', { passkey }, { headers: { cookie } })).status).toBe(200)
}

async function enterByPasskey(key: Key) {
  const { call, cookie } = await askChallenge()
  return people.post('/sign-in/passkey', { passkey: JSON.stringify(key.get(call)) }, { headers: { cookie } })
}

/** Waits for the next event of the account. `ended` resolves to the status of the answer. */
async function startWatch(token: string) {
  const events = '/api/oncebox/events'
  const { body } = await api.call<{ next: number }>(events, { token })
  const watch: { ended: number | null } = { ended: null }
  void api.fetch(`${events}?after=${body.next}&wait=25`, { token }).then(({ status }) => {
    watch.ended = status
  })
  return watch
}

/** Runs a command line of `oncebox` beside the server. */
async function run(...line: string[]): Promise<void> {
  const trial = createTrial({ input: `${NEXT}\n`, now: api.clock.now() })
  trial.app.openAccounts = openAccounts
  expect(await trial.run(...line, '--data-dir', api.dataDir), trial.text()).toBe(0)
}

async function press(answer: Promise<{ status: number }>): Promise<void> {
  expect((await answer).status).toBe(303)
}

const addFactor = () =>
  alterDatabase(api.dataDir, `UPDATE accounts SET totp_secret = x'00' WHERE email = '${ANN}'`)
const changePassword = (revoke: object) =>
  press(given.own.post('/account/password', { current: people.password, password: NEXT, ...revoke }))
const administer = (what: string, fields = {}) =>
  press(root.post(`/admin/accounts/${given.id}/${what}`, fields))

/** The ends of access, keyed by the first column of the table. */
const ENDS: Record<string, () => Promise<void>> = {
  'password changed on the page': () => changePassword({ revoke: 'true' }),
  'password changed on the page, tokens kept': () => changePassword({}),
  '`oncebox user password`': () => run('user', 'password', ANN, '--password-stdin'),
  '`oncebox user password --keep-tokens`': () =>
    run('user', 'password', ANN, '--password-stdin', '--keep-tokens'),
  'reset link used': () => press(people.post(given.reset, { password: NEXT, purpose: 'reset' })),
  'disabled: page': () => administer('disable'),
  'disabled: `oncebox user disable`': () => run('user', 'disable', ANN),
  'no administrator any more: page': () => administer('demote'),
  'no administrator any more: `oncebox user no-admin`': () => run('user', 'no-admin', ANN),
  'removed: page': () => administer('remove', { sure: 'true' }),
  'removed: `oncebox user remove`': () => run('user', 'remove', ANN, '--yes'),
  'second factor off: page': () => {
    addFactor()
    return press(given.own.post('/account/two-factor/off', { password: people.password }))
  },
  'second factor off: `oncebox user two-factor-off`': () => {
    addFactor()
    return run('user', 'two-factor-off', ANN)
  },
  'unlinked from the provider': () => press(given.own.post('/account/provider/remove', {})),
  'signed out everywhere else': () => press(given.own.post('/account/sessions', { id: 'others' })),
  'API token revoked: page': async () => {
    const [token] = await api.apiTokens().listApiTokens(ANN)
    await press(given.own.post('/users/token/revoke', { id: String(token?.id) }))
  },
  'API token revoked: `oncebox token revoke`': () => run('token', 'revoke', ANN, 'token-1'),
}

/** Whether each way still gives access, by the heads of the columns. */
const WAYS: Record<string, () => Promise<boolean>> = {
  'other sessions': async () => (await given.other.get('/account')).status === 200,
  'API token': async () => (await api.fetch('/api/v2/pushes/active', { token: given.token })).status === 200,
  'waiting `watch`': async () => {
    // Causes an event of the account.
    await api.retrieve(given.push)
    await waitUntil(() => given.watch.ended !== null)
    expect([200, 401]).toContain(Number(given.watch.ended))
    return given.watch.ended === 200
  },
  'person at a provider': async () => {
    const sql = `SELECT 1 FROM identities, accounts a WHERE a.id = account_id AND a.disabled_at IS NULL`
    return readFrom((database) => database.query(sql).get() !== null)
  },
  'passkey alone': async () => (await enterByPasskey(given.key)).status === 303,
  'invitation it made': async () => (await people.get(given.invitation)).status === 200,
  'reset link for it': async () => (await people.get(given.reset)).status === 200,
  webhook: async () => {
    const before = countMessages()
    await api.retrieve(given.push)
    return countMessages() > before
  },
  'request for secrets': async () => {
    const path = `/api/oncebox/requests/${given.request}/answers`
    return (await api.call(path, { json: { push: { payload: 'x' } } })).status === 201
  },
  'download link': async () => (await api.fetch(given.file)).status === 200,
}

/** Returns the number of messages ever queued for webhooks of Ann's account. */
function countMessages(): number {
  const sql = 'SELECT coalesce(max(id), 0) AS n FROM outbox WHERE account_id = ?'
  return readFrom((database) => database.query<{ n: number }, [number]>(sql).get(given.id)?.n ?? 0)
}

function readFrom<T>(read: (database: Database) => T): T {
  const database = new Database(join(api.dataDir, 'oncebox.db'), { readonly: true })
  try {
    return read(database)
  } finally {
    database.close()
  }
}

const [head = [], , ...rows] = readFileSync(join(import.meta.dir, '../../SECURITY.md'), 'utf8')
  .split('\n## What ends access\n')[1]
  ?.split('\n## ')[0]
  ?.split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  ) ?? [[]]

test('the table names every end of access and every way in', () => {
  expect(rows.map(([name]) => name)).toEqual(Object.keys(ENDS))
  expect(head.slice(1)).toEqual(Object.keys(WAYS))
})

describe.each(rows)('%s', (...row) => {
  const [name = '', ...cells] = row
  const expected = Object.fromEntries(Object.keys(WAYS).map((way, n) => [way, cells[n] ?? '']))

  async function look(): Promise<Record<string, boolean>> {
    const found: Record<string, boolean> = {}
    for (const [way, isOpen] of Object.entries(WAYS)) found[way] = await isOpen()
    return found
  }

  const where = (words: string[]) =>
    Object.fromEntries(Object.entries(expected).map(([way, word]) => [way, words.includes(word)]))

  test('leaves the access that the table lists, and nothing more', async () => {
    await ENDS[name]?.()
    expect(await look()).toEqual(where(['stays']))
    if (!cells.includes('rests')) return
    await api.accounts().enableAccount(ANN)
    expect(await look()).toEqual(where(['stays', 'rests']))
  })
})
