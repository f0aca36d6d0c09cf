// Pushes that a restore expired: their pages give the reason.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Api, type PushBody, startApi } from '../support/api.ts'
import { createTestClock, START } from '../support/instance.ts'
import { losePushes } from '../support/packed-backup.ts'
import { createPeople, type Person } from '../support/people.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'oncebox-lost-'))
const clock = createTestClock()
const MINUTE = 60_000

let api: Api
let bob: Person
let token: string
let lost: PushBody
let used: PushBody
let anonymous: PushBody

beforeAll(async () => {
  const before = await startApi({ dataDir, clock })
  token = await before.addAccount('bob@example.org')
  lost = await before.create(
    { name: 'invoice', note: 'for Ann', expire_after_views: 3, passphrase: 'x' },
    { token },
  )
  used = await before.create({ expire_after_views: 1 }, { token })
  anonymous = await before.create({})
  await before.retrieve(used.url_token)
  await before.stop()
  clock.advance(MINUTE)
  await losePushes(dataDir, clock.now())
  api = await startApi({ dataDir, clock })
  bob = await createPeople(api).signIn('bob@example.org')
})

afterAll(async () => {
  await api.close()
  rmSync(dataDir, { recursive: true, force: true })
})

const restoredAt = new Date(START + MINUTE).toISOString()
const json = async (path: string) => (await api.fetch(path, { token })).json()

test('the API answers that they are expired, not deleted, and asks for no passphrase', async () => {
  for (const { url_token } of [lost, anonymous]) {
    const { status, body } = await api.retrieve(url_token)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      ...{ expired: true, deleted: false, expired_on: restoredAt, payload: null, files: [] },
    })
  }
})

test('the API shows the same members as for other pushes', async () => {
  const [one, other] = [
    await json(`/api/v2/pushes/${lost.url_token}`),
    await json(`/api/v2/pushes/${used.url_token}`),
  ]
  expect(Object.keys(one)).toEqual(Object.keys(other))
  const listed = await json('/api/v2/pushes/expired')
  expect(listed.map(({ url_token, name }: PushBody & { name: string }) => [url_token, name])).toEqual([
    [used.url_token, ''],
    [lost.url_token, 'invoice'],
  ])
  expect(Object.keys(listed[0])).toEqual(Object.keys(listed[1]))
  expect(await json('/api/v2/pushes/active')).toEqual([])
})

test('their logs end with the restore', async () => {
  const { logs } = await json(`/api/v2/pushes/${lost.url_token}/audit`)
  const expired = logs.filter(({ kind }: { kind: string }) => kind === 'expire')
  expect(expired).toEqual([
    {
      ...{ kind: 'expire', ip: '', user_agent: 'oncebox/3.0.0 (restore)', referrer: '' },
      ...{ created_at: restoredAt, updated_at: restoredAt },
    },
  ])
})

test.each([
  ['en', 'lost in a restore', 'ask the sender to share it again'],
  ['de', 'aus einer Sicherung wiederhergestellt', 'noch einmal zu teilen'],
  ['fr', 'perdu lors de la restauration', 'partager à nouveau'],
  ['es', 'se perdió en la restauración', 'comparta de nuevo'],
  ['ja', '復元時に失われました', 'もう一度共有'],
  ['ar', 'ففُقد هذا الرابط', 'يشاركه مجددًا'],
])('a recipient reads what happened, in %s', async (language, happened, advice) => {
  for (const { url_token } of [lost, anonymous]) {
    const response = await api.fetch(`/p/${url_token}?locale=${language}`)
    const text = await response.text()
    expect(response.status).toBe(404)
    expect(text).toContain(happened)
    expect(text).toContain(advice)
  }
})

test('the page of any other expired push does not mention a restore', async () => {
  expect(await (await api.fetch(`/p/${used.url_token}`)).text()).not.toContain('restore')
})

test('the owner sees the state in the list and on the page, and how to share them again', async () => {
  const { text: list } = await bob.get('/pushes?show=new')
  expect(list.match(/Ended: lost in a restore/g)).toHaveLength(1)
  const { text: page } = await bob.get(`/pushes/${lost.url_token}`)
  expect(/class="headline">.*?<strong>([^<]*)</.exec(page)?.[1]).toBe('Ended: lost in a restore')
  expect(page).toContain('This secret was lost in a restore')
  expect(page).toContain(`/?like=${lost.url_token}`)
  expect((await bob.get(`/pushes/${used.url_token}`)).text).not.toContain('lost in a restore')
})

test('the log on the page names the restore', async () => {
  const { text } = await bob.get(`/pushes/${lost.url_token}`)
  const log = text.slice(text.indexOf('<ol class="log">'), text.indexOf('</ol>'))
  expect(log).toContain('Ended: lost in a restore')
  expect(log).toContain('oncebox 3.0.0')
  expect(log).not.toContain('Revoked or deleted')
})

test('a filter finds them among the expired ones, from either list', async () => {
  const rowsIn = (text: string) =>
    [...text.matchAll(/href="\/pushes\/([a-z0-9]{26})" class="title"/g)].map(([, id]) => id)
  for (const path of ['/pushes?state=lost', '/pushes?show=expired&state=lost', '/pushes?show=all&state=lost'])
    expect(rowsIn((await bob.get(path)).text)).toEqual([lost.url_token])
  expect(rowsIn((await bob.get('/pushes?show=active&state=lost')).text)).toEqual([])
  const { text } = await bob.get('/pushes?state=lost')
  expect(text).toContain('<option value="lost" selected')
  expect(text).toContain('name="show" value="all"')
})

test('the owner can still read names and notes', async () => {
  const { text } = await bob.get(`/pushes/${lost.url_token}`)
  expect(text).toContain('invoice')
  expect(text).toContain('for Ann')
})

test('a form opened before the restore reveals nothing', async () => {
  const answer = await createPeople(api).post(`/p/${anonymous.url_token}/r`, { nonce: 'x' })
  expect(answer.text).toContain('lost in a restore')
})
