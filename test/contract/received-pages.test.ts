// Answers to requests: their state, their page, the way from the request to their text, and the list.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Api, type PushBody, startApi } from '../support/api.ts'
import { unpackEarlier } from '../support/earlier-versions.ts'
import { elementsIn, textsIn } from '../support/page-facts.ts'
import { createPeople, type People, type Person } from '../support/people.ts'

const MINUTE = 60_000

let api: Api
let people: People
let serial = 0
beforeAll(async () => {
  api = await startApi({ flags: { 'show-sender': 'true' } })
  people = createPeople(api)
})
afterAll(() => api.close())

type Owner = Person & { token: string; email: string }

async function newOwner(): Promise<Owner> {
  serial += 1
  const email = `owner${serial}@example.org`
  const token = await api.addAccount(email)
  return { ...(await people.signIn(email)), token, email }
}

type Answered = { owner: Owner; request: string; push: PushBody; page: string }

/** A request with an answer, and the page of the answer. */
async function receive(
  asked: Record<string, unknown> = { name: 'Router' },
  answer: Record<string, unknown> = { payload: 'Kx9!pq__77-zZ' },
): Promise<Answered> {
  const owner = await newOwner()
  const made = await api.call('/api/oncebox/requests', { token: owner.token, json: { request: asked } })
  const request = String(made.body.url_token)
  await api.call(`/api/oncebox/requests/${request}/answers`, { json: { push: answer } })
  const [push] = await api.list('active', owner.token)
  if (push === undefined) throw new Error('nothing has arrived')
  return { owner, request, push, page: `/pushes/${push.url_token}` }
}

const headlineIn = (text: string) => textsIn(text, '.headline strong')[0]
const unseenIn = (text: string) => textsIn(text, 'header .count bdi')[0] ?? '0'
const namesIn = (text: string) => textsIn(text, '.list a.title')
const tabsIn = (text: string) => textsIn(text, '.tabs a').map((tab) => tab.replace(/\s+/g, ' ').trim())

describe('what was received', () => {
  test('says when it arrived until its owner reads it, then when it was read', async () => {
    const { owner, page, push } = await receive()
    api.clock.advance(2 * MINUTE)
    expect(textsIn((await owner.get('/pushes?show=new')).text, '.list .arrival')).toEqual([
      'Arrived 2 min. ago',
    ])
    expect(headlineIn((await owner.get(page)).text)).toBe('Arrived 2 min. ago')
    const read = await owner.post(`${page}/read`, {})
    expect(read.status).toBe(200)
    expect(read.text).toContain('Kx9!pq__77-zZ')
    expect(headlineIn(read.text)).toBe('Read just now')
    api.clock.advance(3 * MINUTE)
    await owner.post(`${page}/read`, {})
    expect(headlineIn((await owner.get(page)).text)).toBe('Read 3 min. ago')
    expect((await api.list('active', owner.token))[0]?.views_remaining).toBe(push.views_remaining)
  })

  test('is read by the token of its owner too, which counts as a view', async () => {
    const { owner, page, push } = await receive()
    const { body } = await api.retrieve(push.url_token, { token: owner.token })
    expect(body.views_remaining).toBe((push.views_remaining ?? 0) - 1)
    const { text } = await owner.get('/pushes')
    expect([tabsIn(text), unseenIn(text)]).toEqual([['Active 1', 'New 0', 'Ended 0'], '1'])
    expect(headlineIn((await owner.get(page)).text)).toBe('Read just now')
  })

  test('is new in list and header until its owner has looked at its page', async () => {
    const { owner, page } = await receive()
    const { text } = await owner.get('/pushes')
    expect([tabsIn(text), unseenIn(text)]).toEqual([['Active 0', 'New 1', 'Ended 0'], '1'])
    const fresh = await owner.get('/pushes?show=new')
    expect(fresh.text).toContain('<span class="chip good">New</span>')
    expect(unseenIn((await owner.get(page)).text)).toBe('0')
    expect(tabsIn((await owner.get('/pushes')).text)).toEqual(['Active 1', 'New 0', 'Ended 0'])
  })

  test('is found by a filter under any tab', async () => {
    const { owner, page } = await receive()
    await api.create({ name: 'my own' }, { token: owner.token })
    expect(namesIn((await owner.get('/pushes?state=received')).text)).toEqual(['Router'])
    await owner.get(page)
    expect(namesIn((await owner.get('/pushes?state=received')).text)).toEqual(['Router'])
    expect(namesIn((await owner.get('/pushes?state=received&show=active')).text)).toEqual(['Router'])
    expect(namesIn((await owner.get('/pushes?state=waiting')).text)).toEqual(['my own'])
  })

  test('has the name of its request, else the first line of the request’s message', async () => {
    const { owner, page, request } = await receive({ message: 'The password of the router\nin Graz' })
    const { text } = await owner.get(page)
    expect(textsIn(text, 'h1')).toEqual(['The password of the router'])
    expect(text).toContain(`<a href="/requests/${request}">Answers your request</a>`)
  })

  test('is never offered as a link of its owner', async () => {
    const { owner, page, push } = await receive()
    const read = await owner.post(`${page}/read`, {})
    for (const text of [(await owner.get(page)).text, (await owner.get('/pushes?show=new')).text, read.text])
      expect(text).not.toMatch(
        /Your link is ready|I am sharing|Share again like this|Link, QR code|\/p\/\w{26}[/"]r?"/,
      )
    const link = `/p/${push.url_token}`
    for (const path of [link, `${link}/r`, `${link}/preview`])
      expect((await owner.get(path)).headers.get('location')).toBe(page)
    const stranger = await people.get(`${link}/preview`)
    expect([stranger.status, stranger.text.includes('Your link is ready')]).toEqual([303, false])
  })

  test('is passed on as a new secret with the text, from its page and from its content', async () => {
    const { owner, page } = await receive({}, { payload: 'line 1\nline 2 ' })
    const { text } = await owner.post(`${page}/read`, {})
    for (const shown of [text, (await owner.get(page)).text])
      expect(textsIn(shown, `form[action="${page}/pass-on"] button`)).toEqual(['Pass it on'])
    const filled = await owner.post(`${page}/pass-on`, {})
    expect(filled.text).toContain('Share a secret')
    expect(filled.text).toContain('line 1\nline 2 </textarea>')
    expect(filled.text).not.toContain('value="Router"')
    const own = await api.create({}, { token: owner.token })
    expect((await owner.post(`/pushes/${own.url_token}/pass-on`, {})).status).toBe(404)
  })

  test('has a masked text beside its files, under the heading of a text', async () => {
    const file = { filename: 'a.txt', data: btoa('x') }
    const { owner, page } = await receive({}, { payload: 'Kx9!pq__77-zZ', files: [file] })
    const { text } = await owner.post(`${page}/read`, {})
    expect(textsIn(text, '.secret h2')).toEqual(['Text'])
    expect(elementsIn(text, '.secret details.field-of-dots pre#payload')).toHaveLength(1)
    expect(text).not.toContain('Message from the sender')
    expect(textsIn(text, '.downloads').join()).toContain('a.txt')
  })

  test('is shown only to its owner, with the form token, and only if it is an answer', async () => {
    const { owner, page } = await receive()
    const other = await newOwner()
    expect((await other.post(`${page}/read`, {})).status).toBe(404)
    expect((await owner.post(`${page}/read`, { form: 'stolen' })).status).toBe(403)
    const own = await api.create({}, { token: owner.token })
    expect((await owner.post(`/pushes/${own.url_token}/read`, {})).status).toBe(404)
  })

  test('has no content any more after its deletion, and is not new', async () => {
    const { owner, page } = await receive()
    await owner.post(`${page}/expire`, {})
    expect((await owner.post(`${page}/read`, {})).headers.get('location')).toBe(page)
    expect((await owner.get(page)).text).toContain('What arrived is gone.')
    expect(tabsIn((await owner.get('/pushes')).text)).toEqual(['Active 0', 'New 0', 'Ended 1'])
  })
})

describe('the page of a request', () => {
  const ask = async (fields: Record<string, string> = {}) => {
    const owner = await newOwner()
    const { headers } = await owner.post('/requests', { message: 'The password', ...fields })
    const page = headers.get('location') ?? ''
    return { owner, page, path: `/q/${page.split('/').at(-1)}` }
  }

  test('is the page of a link to hand over: to copy, scan, mail and share, with a message', async () => {
    const { owner, page } = await ask({ passphrase: 'sesame' })
    const { text } = await owner.get(page)
    expect(textsIn(text, 'h1')).toEqual(['Your request is ready'])
    for (const part of [
      '.emblem.good',
      '[data-copies=link]',
      'svg.qr',
      'a[href^="mailto:"]',
      '[data-shares=message]',
    ])
      expect({ part, n: elementsIn(text, part).length }).toEqual({ part, n: 1 })
    expect(textsIn(text, '#message')[0]).toMatch(
      /The password\n\nPlease send this to me here.*\/q\/\w{26}\n\nYou need a passphrase/s,
    )
    expect(textsIn(text, '#opened')[0]).toMatch(/0 of 1.*Nothing has arrived yet.*7 days left/s)
  })

  test('has the message of the account for requests, which does not change that for secrets', async () => {
    const { owner, page } = await ask()
    const { headers } = await owner.post('/account/message', { for: 'ask', message: 'Here: {link} {name}' })
    expect(headers.get('location')).toBe('/account/message?for=ask&done=saved')
    const messageOn = async (path: string) => textsIn((await owner.get(path)).text, '#message')[0]
    expect(await messageOn(page)).toMatch(/^The password\n\nHere: http:\S+\/q\/\w{26}$/)
    expect((await owner.get(page)).text).toContain('href="/account/message?for=ask">Change your template')
    expect(await messageOn('/account/message?for=ask')).toBe('Here: {link} {name}')
    expect(await messageOn('/account/message')).toContain('I am sharing something with you')
    const refused = await owner.post('/account/message', { for: 'ask', message: 'no link' })
    expect([refused.status, textsIn(refused.text, '#message')[0]]).toEqual([422, 'no link'])
    await owner.post('/account/message', { for: 'ask', message: '' })
    expect(await messageOn(page)).toContain('Please send this to me here')
  })

  test('shows each answer with a button that reads it; polling it does not extend a session', async () => {
    const { owner, request, page } = await receive({ name: 'Router', max_answers: 3 })
    const look = { headers: { 'oncebox-look': '1' } }
    const { text } = await owner.get(`/requests/${request}`, look)
    expect(textsIn(text, '#opened')[0]).toMatch(/1 of 3.*last just now.*Arrived just now.*Read it/s)
    expect(text).toContain('<title>(1) Router')
    expect(text).toContain(`action="${page}/read"`)
    api.clock.advance(6 * 24 * 60 * MINUTE)
    expect((await owner.get(`/requests/${request}`, look)).status).toBe(200)
    api.clock.advance(2 * 24 * 60 * MINUTE)
    expect((await owner.get(`/requests/${request}`, look)).status).toBe(303)
  })

  test('takes limits from chips or exact fields', async () => {
    const of = async (fields: Record<string, string>) => {
      const { owner, page } = await ask(fields)
      return textsIn((await owner.get(page)).text, '#opened')[0]
    }
    expect(await of({ views: '3', expire_after_duration: '3' })).toMatch(/0 of 3.*1 hour left/s)
    const exact = {
      views: 'exact',
      expire_after_views: '7',
      expire_after_duration: 'exact',
      expire_after: '2',
    }
    expect(await of({ ...exact, expire_unit: 'hours' })).toMatch(/0 of 7.*2 hours left/s)
    const { owner } = await ask()
    const refused = await owner.post('/requests', { ...exact, expire_after: '', expire_after_views: '999' })
    expect(refused.status).toBe(422)
    expect(elementsIn(refused.text, 'details.expiry[open]')).toHaveLength(1)
    expect(textsIn(refused.text, '.notice li')).toHaveLength(2)
  })

  test('names its owner to the sender only if the owner wants that', async () => {
    for (const [fields, isNamed] of [
      [{}, false],
      [{ shows_sender: 'true' }, true],
    ] as const) {
      const { owner, path } = await ask(fields)
      const { text } = await people.get(path)
      expect(text.includes(`<bdi>${owner.email}</bdi></strong> asks you for this.`)).toBe(isNamed)
      const told = await people.get(path, { headers: { accept: 'application/json' } })
      expect(JSON.parse(told.text).asker).toBe(isNamed ? owner.email : null)
    }
  })

  test('keeps the age key and its warning folded until they are wanted', async () => {
    const { owner } = await ask()
    const { text } = await owner.get('/requests')
    expect(elementsIn(text, '.options details:not([open]) #recipient')).toHaveLength(1)
    const refused = await owner.post('/requests', { recipient: 'nonsense' })
    expect(elementsIn(refused.text, '.options[open] details[open] #recipient')).toHaveLength(1)
  })
})

describe('a greeting', () => {
  const messageOf = async (owner: Owner, urlToken: string) =>
    textsIn((await owner.get(`/p/${urlToken}/preview`)).text, '#message')[0] ?? ''

  test('uses only a name that was typed under “For whom?”', async () => {
    const owner = await newOwner()
    const { url_token } = await api.create({ name: 'With passphrase' }, { token: owner.token })
    expect(await messageOf(owner, url_token)).toStartWith('I am sharing')
    await owner.post(`/pushes/${url_token}/edit`, { name: 'Kim', note: '', ends_in: '', views: '' })
    expect(await messageOf(owner, url_token)).toStartWith('Hi Kim,')
    await api.call(`/api/v2/pushes/${url_token}`, {
      method: 'PATCH',
      token: owner.token,
      json: { push: { name: 'db-03' } },
    })
    expect(await messageOf(owner, url_token)).toStartWith('I am sharing')
  })

  test('fills a message template with that name, and never with the label', async () => {
    const owner = await newOwner()
    await owner.post('/account/message', { message: 'For {name}: {link}' })
    const { url_token } = await api.create({ name: 'VPN for Bob' }, { token: owner.token })
    expect(await messageOf(owner, url_token)).toMatch(/^For: http/)
  })
})

test('answers from a folder of 3.0.0 count as read, and messages do not greet with its names', async () => {
  const earlier = await unpackEarlier('3.0.0')
  const old = await startApi({
    dataDir: earlier.dataDir,
    clock: earlier.clock,
    flags: { 'accept-move': 'true' },
  })
  const [visitors, { tokens }] = [createPeople(old), earlier]
  await old.accounts().setPassword({ email: 'ann@example.org', password: visitors.password })
  const ann = await visitors.signIn('ann@example.org')
  const { text } = await ann.get('/pushes')
  expect([tabsIn(text), unseenIn(text)]).toEqual([['Active 4', 'New 0', 'Ended 0'], '1'])
  expect(headlineIn((await ann.get(`/pushes/${tokens.received}`)).text)).toBe('Read')
  const { text: request } = await ann.get(`/requests/${tokens.request}`)
  expect(request).toContain('<a href="/pushes?state=received">Show all that has arrived</a>')
  const created = await ann.get(`/p/${tokens.named}/preview`)
  expect(textsIn(created.text, '#message')[0]).toStartWith('I am sharing')
  await old.stop()
  earlier.remove()
})
