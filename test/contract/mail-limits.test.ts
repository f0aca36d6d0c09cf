// Limits on mails per hour: no address, recipient or new account can use up the mails of all, and reset links
// are mailed to the last.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { DAY, HOUR } from '../../src/domain/time.ts'
import { type Api, PUSHES, startApi } from '../support/api.ts'
import { createPeople } from '../support/people.ts'
import { waitUntil } from '../support/waiting.ts'

const ANN = 'ann@example.org'
const FLAGS = {
  // No server listens on this port, so every accepted mail stays queued.
  ...{ 'smtp-url': 'smtps://127.0.0.1:1', 'mail-from': 'once@example.org' },
  ...{ 'base-url': 'http://localhost', signups: 'true' },
}

let api: Api
let made = 0
beforeEach(async () => {
  api = await startApi({ flags: FLAGS })
  await api.addAccount(ANN, { isAdmin: true })
})
afterEach(() => api.close())

const newRecipients = (count: number) =>
  Array.from({ length: count }, () => {
    made += 1
    return `r${made}@example.org`
  }).join()

type Sending = { token: string; from?: string; to?: string }

async function send({ token, from = '192.0.2.1', to = newRecipients(5) }: Sending): Promise<number> {
  const push = { payload: 'x', notify_emails_to: to }
  return (await api.fetch(PUSHES, { json: { push }, token, from })).status
}

/** Creates until a create is refused. Resolves to the number of accepted ones. */
async function sendAll(one: Sending): Promise<number> {
  for (let taken = 0; ; taken += 1) if ((await send(one)) !== 201) return taken
}

const addAccounts = (name: string, count: number) =>
  Promise.all(Array.from({ length: count }, (_, n) => api.addAccount(`${name}${n}@example.org`)))

function countOf(kind: string): number {
  const database = new Database(join(api.dataDir, 'oncebox.db'), { readonly: true })
  const row = database
    .query<{ n: number }, [string]>('SELECT count(*) AS n FROM outbox WHERE kind = ?')
    .get(kind)
  database.close()
  return row?.n ?? 0
}

async function forgot(email: string, from = '198.51.100.1') {
  const { status, text } = await createPeople(api).post('/sign-in/forgot', { email }, { from })
  return { status, text: text.replace(/request [\w-]+/, '') }
}

async function mailPart(): Promise<string> {
  const answer = await api.fetch('/readyz', { from: '127.0.0.1' })
  return ((await answer.json()) as { ready: true; checks: { mail: string } }).checks.mail
}

test('the accounts that one address signs up may send 200 mails together; a /64 is one address', async () => {
  const [first = '', second = '', third = ''] = await addAccounts('new', 3)
  expect(await sendAll({ token: first, from: '2001:db8::1' })).toBe(20)
  expect(await sendAll({ token: second, from: '2001:db8::2' })).toBe(20)
  expect(await send({ token: third, from: '2001:db8::ffff:3' })).toBe(429)
  expect(await send({ token: third, from: '2001:db8:0:1::1' })).toBe(201)
})

test('accounts younger than a day leave a share of the mails to the others, however many addresses they use', async () => {
  const [old = ''] = await addAccounts('old', 1)
  api.clock.advance(DAY)
  const tokens = await addAccounts('new', 5)
  let taken = 0
  for (const [n, token] of tokens.entries()) taken += await sendAll({ token, from: `192.0.2.${n}` })
  expect(taken * 5).toBe(400)
  expect(await mailPart()).toContain('No mail of accounts younger than a day is taken until 2026-')
  expect(await send({ token: old, from: '192.0.2.1' })).toBe(201)
  const before = countOf('account_mail')
  await forgot(ANN)
  await waitUntil(() => countOf('account_mail') === before + 1)
  await forgot('new0@example.org')
  await waitUntil(() => countOf('account_mail') === before + 2)
})

test('neither an administrator nor, without --signups, any account counts as new', async () => {
  const admin = await api.addAccount('admin@example.org', { isAdmin: true })
  const tokens = await addAccounts('new', 4)
  for (const [n, token] of tokens.entries()) await sendAll({ token, from: `192.0.2.${n}` })
  expect(countOf('link_mail')).toBe(400)
  expect(await send({ token: admin, from: '198.51.100.1' })).toBe(201)
  await api.close()
  api = await startApi({ flags: { ...FLAGS, signups: 'false' } })
  const invited = await addAccounts('invited', 5)
  for (const [n, token] of invited.entries()) await sendAll({ token, from: `192.0.2.${n}` })
  expect(countOf('link_mail')).toBe(500)
})

test('a reset link is mailed even if other mail is refused, until all mails are used up, which /readyz reports', async () => {
  const tokens = await addAccounts('old', 9)
  api.clock.advance(DAY)
  for (const [n, token] of tokens.entries()) await sendAll({ token, from: `192.0.2.${n}` })
  expect(countOf('link_mail')).toBe(800)
  expect(await mailPart()).toContain('No mail but links for a new password is taken until 2026-')
  await forgot(ANN)
  await waitUntil(() => countOf('account_mail') === 1)
  const database = new Database(join(api.dataDir, 'oncebox.db'))
  database.run('PRAGMA busy_timeout = 60000')
  database.run('UPDATE spent_points SET points = 1000 WHERE points = 801')
  database.close()
  const known = await forgot(ANN)
  expect(known).toEqual(await forgot('nobody@example.org'))
  expect(known.status).toBe(200)
  await waitUntil(() => api.log.some((line) => line.includes('could not send a link for a new password')))
  expect(await mailPart()).toContain('not even a link for a new password, until 2026-')
  expect(countOf('account_mail')).toBe(1)
  api.clock.advance(HOUR)
  expect(await mailPart()).not.toContain('is taken')
})

test('a recipient gets at most 30 mails from all accounts together, and reset links in addition', async () => {
  const [first = '', second = ''] = await addAccounts('new', 2)
  for (let n = 0; n < 15; n += 1) {
    expect(await send({ token: first, to: ANN })).toBe(201)
    expect(await send({ token: second, to: ANN.toUpperCase() })).toBe(201)
  }
  expect(await send({ token: first, to: `bob@example.org,${ANN}` })).toBe(429)
  expect(await send({ token: first, to: 'bob@example.org' })).toBe(201)
  await forgot(ANN)
  await waitUntil(() => countOf('account_mail') === 1)
})

test('a form whose mails are refused says so, and test mails have a separate limit', async () => {
  const people = createPeople(api)
  const bob = await api.addAccount('bob@example.org')
  const page = await people.signIn('bob@example.org')
  const statuses: number[] = []
  for (let n = 0; n < 11; n += 1) {
    const { status, text, headers } = await page.post('/account/mail/test', {})
    statuses.push(status)
    if (status === 429)
      expect([headers.get('retry-after'), text]).toEqual([
        '60',
        expect.stringContaining('Try again in a minute'),
      ])
  }
  expect(statuses).toEqual([...Array(10).fill(303), 429])
  api.clock.advance(HOUR)
  await sendAll({ token: bob })
  const openedBy = /name="push\[opened_by\]" value="([^"]+)"/.exec((await page.get('/')).text)?.[1] ?? ''
  const refused = await page.post('/', {
    ...{ 'push[opened_by]': openedBy, 'push[form]': page.form },
    ...{ 'push[kind]': 'text', 'push[payload]': 'x', 'push[notify_emails_to]': 'x@example.org' },
  })
  expect([refused.status, refused.text]).toEqual([
    429,
    expect.stringContaining('too many e-mails were sent in this hour'),
  ])
})

test('mails of a refused push are not counted', async () => {
  const token = await api.addAccount('bob@example.org')
  const { url_token } = await api.create({}, { token })
  await api.expire(url_token, { token })
  const json = { push: { notify_emails_to: 'a@example.org,b@example.org,c@example.org' } }
  // More than the limits of an account, a recipient and an address.
  for (let n = 0; n < 70; n += 1) {
    const refused = await api.fetch(`${PUSHES}/${url_token}/notify_emails`, { json, token })
    expect([n, refused.status]).toEqual([n, 422])
  }
  expect(await send({ token, to: 'a@example.org,b@example.org' })).toBe(201)
})
