// Shows recipients who shares a link: only if the server allows it, the account asked for it, and the account
// still exists.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { OpenedStore } from '../../src/store/opening/opened-store.ts'
import { startInstance, type TestInstance } from '../support/instance.ts'
import { textsIn, valueIn } from '../support/page-facts.ts'
import { createPeople, type People, type Person } from '../support/people.ts'

const SHARED = 'ben@example.org</bdi></strong> shares this with you.'
const TICK = 'Tell the recipient my address'
const NOBODY = '/p/0123456789abcdefghjkmnpqrs'

let server: TestInstance
let people: People
let token: string
let ben: Person
let lookups = 0

/** Counts the accounts that are looked up by their id. */
const interpose = (store: OpenedStore): OpenedStore => ({
  ...store,
  accounts: {
    ...store.accounts,
    findById: (id) => {
      lookups += 1
      return store.accounts.findById(id)
    },
  },
})

beforeAll(async () => {
  server = await startInstance({ flags: { 'show-sender': 'true' }, interpose })
  people = createPeople(server)
  await server.addAccount('ann@example.org', { isAdmin: true })
  token = await server.addAccount('ben@example.org')
  ben = await people.signIn('ben@example.org')
})

beforeEach(() => {
  lookups = 0
})

afterAll(() => server.close())

type Sender = Pick<Person, 'get' | 'post'>

async function sendForm(person: Sender, fields: Record<string, string>) {
  const shown = await person.get('/')
  const opened = { 'push[opened_by]': valueIn(shown.text, 'push[opened_by]') }
  return person.post('/', { ...opened, 'push[payload]': 'tulip', 'push[kind]': 'text', ...fields })
}

/** Resolves to the path of the new secret link. */
async function share(person: Sender, fields: Record<string, string> = {}): Promise<string> {
  const sent = await sendForm(person, fields)
  expect(sent.status).toBe(303)
  return sent.headers.get('location')?.replace('/preview', '') ?? ''
}

const TOLD = { 'push[shows_sender]': 'true' }
const mainOf = (text: string) => textsIn(text, 'main')[0]

describe('the page of a secret link', () => {
  test('shows the sender if the sender asked for it; chat previews do not', async () => {
    const { text } = await people.get(await share(ben, TOLD))
    expect(text).toContain(SHARED)
    expect(text).not.toContain('Somebody sent you')
    expect(text.slice(0, text.indexOf('</head>'))).not.toContain('ben@')
    expect(lookups).toBe(1)
  })

  test('shows the sender after a wrong passphrase too, but not to the sender', async () => {
    const path = await share(ben, { ...TOLD, 'push[passphrase]': 'sesame' })
    const nonce = valueIn((await people.get(path)).text, 'nonce')
    const refused = await people.post(path, { nonce, passphrase: 'open' })
    expect(refused.status).toBe(422)
    expect(refused.text).toContain(SHARED)
    expect((await ben.get(path)).text).not.toContain('shares this with you')
  })

  test('shows the sender a preview of this card', async () => {
    const path = await share(ben, TOLD)
    expect((await ben.get(`${path}/preview`)).text).toContain(SHARED)
    // Anyone with the link may open that page.
    expect((await people.get(`${path}/preview`)).text).not.toContain('ben@')
  })

  test('shows no sender if the sender did not ask for it, and looks up no account', async () => {
    const { text } = await people.get(await share(ben))
    expect(text).toContain('Somebody sent you a secret')
    expect(lookups).toBe(0)
  })

  test('shows no sender for an anonymous push, whatever was sent', async () => {
    const { text } = await people.get(await share(people, TOLD))
    expect(text).toContain('Somebody sent you a secret')
    expect(lookups).toBe(0)
  })

  test('shows no sender for pushes by the API', async () => {
    const json = { push: { payload: 'x', shows_sender: true } }
    const made = await (await server.fetch('/api/v2/pushes', { json, token })).json()
    expect(Object.keys(made).filter((name) => name.includes('sender'))).toEqual([])
    expect((await people.get(new URL(made.html_url).pathname)).text).toContain('Somebody sent you a secret')
  })

  test('shows no sender once the push has expired, like an unknown link', async () => {
    const path = await share(ben, { ...TOLD, 'push[views]': '1' })
    const nonce = valueIn((await people.get(path)).text, 'nonce')
    expect((await people.post(path, { nonce })).status).toBe(200)
    lookups = 0
    const [gone, never] = [await people.get(path), await people.get(NOBODY)]
    expect([gone.status, mainOf(gone.text)]).toEqual([404, mainOf(never.text)])
    expect(lookups).toBe(0)
  })

  test('shows no sender while the account is disabled', async () => {
    const path = await share(ben, TOLD)
    await server.accounts().disableAccount('ben@example.org')
    expect((await people.get(path)).text).toContain('Somebody sent you a secret')
    await server.accounts().enableAccount('ben@example.org')
    expect((await people.get(path)).text).toContain(SHARED)
    ben = await people.signIn('ben@example.org')
  })

  test('shows no sender after a reset link took the push from the account', async () => {
    await server.addAccount('carl@example.org')
    const path = await share(await people.signIn('carl@example.org'), TOLD)
    expect((await people.get(path)).text).toContain('carl@example.org')
    const ann = await people.signIn('ann@example.org')
    const { id } = await server.accounts().requireAccount('carl@example.org')
    const made = await ann.post(`/admin/accounts/${id}/reset`, {})
    const link = /http:\/\/localhost(\/welcome\/\w+)/.exec(made.text)?.[1] ?? ''
    expect((await people.post(link, { password: 'tulip battery staple' })).status).toBe(303)
    const { status, text } = await people.get(path)
    expect([status, text.includes('Somebody sent you a secret')]).toEqual([200, true])
    expect(text).not.toContain('carl@')
  })
})

describe('the create form', () => {
  test('offers it to accounts, unticked, and keeps the tick in a refused form', async () => {
    const box = /<input type="checkbox" id="shows_sender"[^>]*>/
    expect(box.exec((await ben.get('/')).text)?.[0]).not.toContain('checked')
    expect((await people.get('/')).text).not.toContain(TICK)
    const refused = await sendForm(ben, { ...TOLD, 'push[payload]': '' })
    expect(refused.status).toBe(422)
    expect(box.exec(refused.text)?.[0]).toContain('checked')
  })
})

test('if the server does not allow it, shows no sender and does not offer it', async () => {
  const flags = { 'show-sender': 'true' }
  const strict = await startInstance({ flags })
  await strict.addAccount('ben@example.org')
  const asked = createPeople(strict)
  const path = await share(await asked.signIn('ben@example.org'), TOLD)
  expect((await asked.get(path)).text).toContain(SHARED)
  await strict.stop()
  const { dataDir, clock } = strict
  const again = await startInstance({ dataDir, clock })
  const visitors = createPeople(again)
  const sender = await visitors.signIn('ben@example.org')
  expect((await sender.get('/')).text).not.toContain(TICK)
  for (const link of [path, await share(sender, TOLD)])
    expect((await visitors.get(link)).text).toContain('Somebody sent you a secret')
  await again.close()
})
