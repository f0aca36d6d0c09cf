// Mail for accounts: invitations, reset links, and their limits.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { DAY, HOUR } from '../../src/domain/time.ts'
import { type Api, PUSHES, startApi } from '../support/api.ts'
import { headerOf, type MailServer, type Received, startMailServer } from '../support/mail-server.ts'
import { createPeople, type People, type Person } from '../support/people.ts'
import { waitUntil } from '../support/waiting.ts'

const ANN = 'ann@example.org'
const BOB = 'bob@example.org'

const flagsOf = (url: string) => ({
  ...{ 'smtp-url': url, 'mail-from': 'once@example.org' },
  'base-url': 'http://localhost',
})

let server: MailServer
let api: Api
let people: People
let ann: Person
beforeAll(async () => {
  server = await startMailServer({ isTls: false })
  api = await startApi({ flags: flagsOf(server.url) })
  people = createPeople(api)
  await api.addAccount(ANN, { isAdmin: true })
  await api.addAccount(BOB)
  ann = await people.signIn(ANN)
})
afterAll(async () => {
  await api.close()
  await server.stop()
})

async function nextMail(): Promise<Received> {
  await waitUntil(() => server.mails.length > 0)
  const [mail] = server.mails.splice(0)
  if (mail === undefined) throw new Error('no mail')
  return mail
}

/** Returns the number of attempts of each queued mail. */
function triesOf({ dataDir }: Api): number[] {
  const database = new Database(join(dataDir, 'oncebox.db'), { readonly: true })
  const rows = database.query<{ tries: number }, []>('SELECT tries FROM outbox').all()
  database.close()
  return rows.map(({ tries }) => tries)
}

const linkIn = ({ text }: Received) => /^http:\/\/localhost(\/welcome\/\w+)$/m.exec(text)?.[1] ?? 'none'
const forgot = (email: string, from = '192.0.2.9') => people.post('/sign-in/forgot', { email }, { from })
const statusOf = async (path: string) => (await people.get(path)).status

test('an invitation is mailed if the administrator asks for it, and its link works', async () => {
  const page = await ann.post('/admin/invitations', { email: 'New@Example.org', send: 'true' })
  expect(page.text).toContain('It is also on its way by e-mail.')
  const mail = await nextMail()
  expect([mail.to, headerOf(mail, 'subject')]).toEqual([['new@example.org'], 'You are invited to Oncebox'])
  expect(await statusOf(linkIn(mail))).toBe(200)
  const silent = await ann.post('/admin/invitations', { email: 'other@example.org' })
  expect(silent.text).not.toContain('on its way')
})

test('an invitation that is withdrawn before it is mailed is not mailed', async () => {
  await server.stop()
  await ann.post('/admin/invitations', { email: 'late@example.org', send: 'true' })
  const { text } = await ann.get('/admin')
  const ids = [...text.matchAll(/invitations\/(\d+)\/remove/g)].map(([, id]) => id)
  for (const id of ids) await ann.post(`/admin/invitations/${id}/remove`, {})
  await api.close()
  expect(server.mails).toEqual([])
})

describe('a person who forgot the password', () => {
  beforeAll(async () => {
    server = await startMailServer()
    api = await startApi({ flags: flagsOf(server.url) })
    people = createPeople(api)
    await api.addAccount(ANN, { isAdmin: true })
    await api.addAccount(BOB)
  })

  test('finds the form on the sign-in page', async () => {
    expect((await people.get('/sign-in')).text).toContain('href="/sign-in/forgot"')
    expect((await people.get('/sign-in/forgot')).text).toContain('Send the link')
  })

  test('gets a link that sets a new password once, and leaves the second factor', async () => {
    const answer = await forgot(' BOB@example.org ')
    expect(answer.status).toBe(200)
    const mail = await nextMail()
    expect([mail.to, headerOf(mail, 'subject')]).toEqual([[BOB], 'A new password for Oncebox'])
    const link = linkIn(mail)
    const password = 'another horse battery staple'
    expect((await people.post(link, { email: BOB, password })).status).toBe(303)
    await people.signIn(BOB, { password })
    expect(await statusOf(link)).toBe(404)
  })

  test('gets the same answer as for an unknown or disabled account, or an invalid address', async () => {
    await api.addAccount('off@example.org')
    await api.accounts().disableAccount('off@example.org')
    const asked = [BOB, 'nobody@example.org', 'off@example.org', 'no address', '']
    const answers = await Promise.all(asked.map((email) => forgot(email)))
    const [first, ...others] = answers.map(({ status, text }) => ({
      status,
      text: text.replace(/request [\w-]+/, ''),
    }))
    for (const other of others) expect<unknown>(other).toEqual(first)
    await nextMail()
    expect(server.mails).toEqual([])
  })

  test('keeps the last link, however many others are requested', async () => {
    api.clock.advance(HOUR)
    const links: string[] = []
    for (let n = 0; n < 3; n += 1) {
      await forgot(ANN, `192.0.2.${n}`)
      links.push(linkIn(await nextMail()))
    }
    for (let n = 0; n < 5; n += 1) expect((await forgot(ANN, `198.51.100.${n}`)).status).toBe(200)
    await forgot(BOB)
    expect((await nextMail()).to).toEqual([BOB])
    expect(await Promise.all(links.map(statusOf))).toEqual([404, 404, 200])
    api.clock.advance(DAY)
    expect(await statusOf(links[2] ?? '')).toBe(404)
  })

  test('is refused after too many requests from one address, and keeps what was typed', async () => {
    api.clock.advance(HOUR)
    const statuses: number[] = []
    for (let n = 0; n < 21; n += 1) statuses.push((await forgot(`x${n}@example.org`, '203.0.113.7')).status)
    expect(statuses.filter((status) => status === 429)).toHaveLength(1)
    const refused = await forgot('typed@example.org', '203.0.113.7')
    expect(refused.text).toContain('typed@example.org')
    expect((await forgot('x@example.org', '203.0.113.8')).status).toBe(200)
  })
})

describe('mail to a server whose certificate does not verify', () => {
  let owner: string
  let stranger: MailServer
  let strange: Api
  beforeAll(async () => {
    stranger = await startMailServer()
    strange = await startApi({ flags: flagsOf(stranger.urlOfStranger) })
    owner = await strange.addAccount(BOB)
  })
  afterAll(async () => {
    await strange.close()
    await stranger.stop()
  })
  const create = (recipients: number) => {
    const to = Array.from({ length: recipients }, (_, n) => `r${n}@example.org`).join()
    return strange.fetch(PUSHES, { json: { push: { payload: 'x', notify_emails_to: to } }, token: owner })
  }

  test('is not sent, not even by a retry', async () => {
    expect((await create(1)).status).toBe(201)
    await waitUntil(() => {
      strange.clock.advance(10_000)
      return triesOf(strange).every((tries) => tries > 2)
    })
    expect([stranger.mails, triesOf(strange).length]).toEqual([[], 1])
  })

  test('counts for the 100 mails that an account may send in an hour', async () => {
    for (let n = 0; n < 19; n += 1) expect((await create(5)).status).toBe(201)
    expect((await create(5)).status).toBe(429)
    expect((await create(4)).status).toBe(201)
    const refused = await create(1)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    expect((await strange.fetch(PUSHES, { json: { push: { payload: 'x' } }, token: owner })).status).toBe(201)
    strange.clock.advance(HOUR)
    expect((await create(5)).status).toBe(201)
  })
})

test('failing mail is logged when it begins and when it ends, and shown in /readyz, which stays ready', async () => {
  let [tries, isTaking] = [0, false]
  const server = await startMailServer({
    onMail: () => {
      tries += 1
      return isTaking ? 'take' : 'die'
    },
  })
  const api = await startApi({ flags: flagsOf(server.url) })
  const token = await api.addAccount(BOB)
  const part = async () => {
    const answer = await api.fetch('/readyz', { from: '127.0.0.1' })
    return [answer.status, ((await answer.json()) as { checks: { mail: string } }).checks.mail]
  }
  const toldOf = (words: string) => api.log.filter((line) => line.includes(words)).length
  expect(await part()).toEqual([200, 'ok'])
  await api.fetch(PUSHES, { json: { push: { payload: 'x', notify_emails_to: BOB } }, token })
  const begins = 'cannot be reached, or ends the connection: messages wait, for a day at most'
  await waitUntil(() => {
    api.clock.advance(10_000)
    return tries > 2 && toldOf(begins) > 0
  })
  expect(await part()).toEqual([200, expect.stringContaining('ends the connection, since 2026-11-2')])
  isTaking = true
  await waitUntil(() => {
    api.clock.advance(10_000)
    return server.mails.length > 0
  })
  await waitUntil(() => toldOf(' takes messages again') === 1)
  expect([toldOf(begins), await part()]).toEqual([1, [200, 'ok']])
  await api.close()
  await server.stop()
})

test('without a mail server there is neither a form nor an endpoint', async () => {
  const plain = await startApi()
  const asked = createPeople(plain)
  await plain.addAccount(BOB)
  const bob = await asked.signIn(BOB)
  expect((await asked.get('/sign-in')).text).not.toContain('/sign-in/forgot')
  expect((await asked.get('/sign-in/forgot')).status).toBe(404)
  expect((await asked.post('/sign-in/forgot', { email: BOB })).status).toBe(404)
  expect((await bob.get('/')).text).not.toContain('notify_emails_to')
  await plain.close()
})
