// The owner's page of a push: its state in words, readable names of programs, and the edit form.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Api, type PushBody, startApi, type Wire } from '../support/api.ts'
import { attributesIn, elementsIn, textsIn } from '../support/page-facts.ts'
import { createPeople, type Person } from '../support/people.ts'

const DAY = 86_400_000

let api: Api
let bob: Person
let token: string
beforeAll(async () => {
  api = await startApi({ flags: { 'max-passphrase-attempts': '1' } })
  token = await api.addAccount('bob@example.org')
  bob = await createPeople(api).signIn('bob@example.org')
})
afterAll(() => api.close())

const create = (push: Wire = {}) => api.create(push, { token })
const pageOf = async ({ url_token }: PushBody) => (await bob.get(`/pushes/${url_token}`)).text
const headlineIn = (text: string) => textsIn(text, '.headline strong')[0]

describe('the state at the top of the page is', () => {
  test.each<[string, Wire, (push: PushBody) => unknown]>([
    ['Waiting to be opened', {}, () => undefined],
    ['Waiting to be opened', { expire_after_views: 1 }, () => undefined],
    [
      'Opened 2 of 5 times',
      {},
      async ({ url_token }) => [await api.retrieve(url_token), await api.retrieve(url_token)],
    ],
    ['Can be opened once more', { expire_after_views: 2 }, ({ url_token }) => api.retrieve(url_token)],
    ['Opened just now, link used up', { expire_after_views: 1 }, ({ url_token }) => api.retrieve(url_token)],
    ['Revoked or deleted', {}, ({ url_token }) => api.expire(url_token)],
    [
      'Ended: too many wrong passphrases',
      { passphrase: 'a' },
      ({ url_token }) => api.retrieve(`${url_token}?passphrase=b`),
    ],
    [
      'Locked',
      { passphrase: 'a', deletable_by_viewer: false },
      ({ url_token }) => api.retrieve(`${url_token}?passphrase=b`),
    ],
    ['Expires soon', { expire_after_days: 2 }, () => api.clock.advance(1.5 * DAY)],
    ['Expired: its time is over', { expire_after_days: 1 }, () => api.clock.advance(DAY)],
  ])('%s', async (headline, fields, happens) => {
    const push = await create(fields)
    await happens(push)
    expect(headlineIn(await pageOf(push))).toBe(headline)
  })
})

test('the page says once how often the link was opened', async () => {
  const push = await create({ expire_after_views: 5 })
  expect(textsIn(await pageOf(push), '.standing .numbers')).toEqual(['0 of 5'])
  await api.retrieve(push.url_token)
  const text = await pageOf(push)
  expect(text.split('Opened 1 of 5 times')).toHaveLength(2)
  expect(text).not.toContain('1 of 5<')
})

test('the page lists the log newest first across pages, the API oldest first', async () => {
  const push = await create({ expire_after_views: 100 })
  for (let n = 1; n <= 60; n += 1)
    await api.retrieve(push.url_token, { headers: { 'user-agent': `Firefox/${n}.0` } })
  const programsOn = async (page: number) => {
    const { text } = await bob.get(`/pushes/${push.url_token}?page=${page}`)
    return attributesIn(text, '.agent', 'title').map((agent) =>
      Number.parseInt(agent.slice('Firefox/'.length), 10),
    )
  }
  expect(await programsOn(1)).toEqual(Array.from({ length: 50 }, (_, at) => 60 - at))
  expect(await programsOn(2)).toEqual(Array.from({ length: 10 }, (_, at) => 10 - at))
  expect(await programsOn(3)).toEqual([])
})

test('the page of an expired push offers to share again, as its only primary button', async () => {
  const primaryIn = (text: string) => elementsIn(text, '.primary')
  const push = await create()
  const again = `href="/?like=${push.url_token}"`
  const live = await pageOf(push)
  expect([live.includes(again), primaryIn(live).length]).toEqual([true, 1])
  await api.expire(push.url_token)
  const expired = await pageOf(push)
  expect([expired.includes(again), primaryIn(expired).length]).toEqual([true, 1])
})

test.each([
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
    'Chrome on Linux',
  ],
  ['Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0', 'Firefox on Windows'],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
    'Safari on iOS',
  ],
  ['curl/8.5.0', 'curl 8.5.0'],
  ['oncebox/3.0.0 (linux x64)', 'oncebox 3.0.0'],
  ['python-requests/2.32.3', 'python-requests 2.32.3'],
  ['', 'Unknown program'],
  ['Mozilla/5.0', 'Unknown program'],
  ['<script>alert(1)</script>', 'Unknown program'],
])('the log shows the user agent %p as %p', async (agent, program) => {
  const push = await create()
  await api.retrieve(push.url_token, { headers: { 'user-agent': agent } })
  const text = await pageOf(push)
  expect(textsIn(text, '.agent')[0]).toBe(program)
  expect(text).not.toContain('<script>alert')
})

describe('the edit form', () => {
  const edit = ({ url_token }: PushBody, fields: Record<string, string>) =>
    bob.post(`/pushes/${url_token}/edit`, { name: '', note: '', ends_in: '', views: '', ...fields })

  test('changes name, note and limits, and shows a notice', async () => {
    const push = await create({ name: 'before', expire_after_days: 7 })
    const answer = await edit(push, { name: 'after', note: 'one\r\ntwo', ends_in: String(DAY), views: '2' })
    expect(answer.status).toBe(303)
    const { text } = await bob.get(answer.headers.get('location') ?? '')
    expect(text).toContain('Changes saved.')
    const [listed] = await api.list('active', token)
    expect(listed).toMatchObject({
      name: 'after',
      note: 'one\ntwo',
      expire_after_days: 1,
      expire_after_views: 2,
    })
    expect(listed?.expires_at).toBe(new Date(api.clock.now() + DAY).toISOString())
    expect(text).toContain('Edited by you')
  })

  test('offers only earlier expiries', async () => {
    const push = await create({ expire_after_days: 2 })
    const { text } = await bob.get(`/pushes/${push.url_token}?edit=1`)
    const offered = attributesIn(text, '[name="ends_in"] option', 'value').map(Number)
    expect(offered.length).toBeGreaterThan(3)
    expect(offered.filter((length) => length >= 2 * DAY)).toEqual([])
    expect(elementsIn(text, '#edit[open]')).toHaveLength(1)
    expect(elementsIn(text, '.standing, .log')).toEqual([])
    expect(text).toContain(`href="/pushes/${push.url_token}">Cancel`)
  })

  test('is shown again with what was typed, and the problem beside its field', async () => {
    const push = await create({ name: 'kept', expire_after_days: 1 })
    const answer = await edit(push, { name: 'typed', views: '9', ends_in: String(7 * DAY) })
    expect(answer.status).toBe(422)
    expect(answer.text).toContain('value="typed"')
    expect(answer.text).toContain('from 1 to 5')
    expect(answer.text).toContain('With this the link would work longer')
    expect(
      (await api.list('active', token)).find(({ url_token }) => url_token === push.url_token)?.name,
    ).toBe('kept')
    expect((await edit(push, { name: 'x'.repeat(256) })).status).toBe(422)
  })

  test('is shown again with a summary that links to each invalid field', async () => {
    const push = await create({ expire_after_days: 1 })
    const fields = { name: 'x'.repeat(256), note: 'x'.repeat(10_001), views: '9', ends_in: String(7 * DAY) }
    const { text } = await edit(push, fields)
    const links = elementsIn(text, '.notice li a').map((link) => [
      link.attributes.href?.slice(1),
      link.text.split(': ')[0],
    ])
    expect(links.sort()).toEqual([
      ['ends_in', 'Expires'],
      ['name', 'For whom?'],
      ['note', 'Note'],
      ['views', 'How many times it can be opened in all'],
    ])
    for (const [id] of links) expect(elementsIn(text, `#${id}`)).toHaveLength(1)
  })

  test('reports invalid limits without a link to their fields once the push has expired, because those fields are gone', async () => {
    const push = await create({ expire_after_views: 1 })
    await api.retrieve(push.url_token)
    const { text } = await edit(push, { views: '2', name: 'x'.repeat(256) })
    expect(text).toContain('<li>This secret has ended, so its limits can’t be changed.</li>')
    expect(text).not.toContain('href="#views"')
  })

  test('has only name and note once the push has expired', async () => {
    const push = await create({ expire_after_views: 1 })
    await api.retrieve(push.url_token)
    const text = await pageOf(push)
    expect(text).toContain('id="edit"')
    expect(text).not.toContain('name="ends_in"')
    expect((await edit(push, { name: 'done' })).status).toBe(303)
    expect(await pageOf(push)).toContain('done')
  })

  test('is for the owner alone, with the form token of their session', async () => {
    const other = await api.create()
    expect((await edit(other, { name: 'x' })).status).toBe(404)
    const push = await create()
    expect((await bob.post(`/pushes/${push.url_token}/edit`, { form: 'forged', name: 'x' })).status).toBe(403)
  })
})
