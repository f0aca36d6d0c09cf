// Webhooks of an account: who may add them, which hosts they may use, and what they receive.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { MOST_WEBHOOKS, nextTryAt } from '../../src/domain/outbox.ts'
import { HOUR } from '../../src/domain/time.ts'
import { type Api, startApi } from '../support/api.ts'
import { alterDatabase } from '../support/damage.ts'
import { waitUntil } from '../support/waiting.ts'
import { isSigned, startReceiver, type WebhookReceiver } from '../support/webhooks.ts'

const WEBHOOKS = '/api/oncebox/webhooks'
type Webhook = { id: number; host: string; last_delivery: string | null; last_error: string | null }
type Created = Webhook & { secret: string }

let receiver: WebhookReceiver
let api: Api
let [ann, bob] = ['', '']
let answer: () => Response | Promise<Response> = () => new Response(null, { status: 204 })
beforeAll(async () => {
  receiver = await startReceiver(() => answer())
  api = await startApi({ flags: { 'webhook-hosts': `hook.example,${receiver.host}` } })
  ann = await api.addAccount('ann@example.org')
  bob = await api.addAccount('bob@example.org')
})
afterAll(async () => {
  await api.close()
  receiver.close()
})

const add = (webhook: object, token = ann) => api.call<Created>(WEBHOOKS, { json: { webhook }, token })
const list = (token = ann) => api.call<Webhook[]>(WEBHOOKS, { token })
const remove = (id: number | string, token = ann) =>
  api.call(`${WEBHOOKS}/${id}`, { method: 'DELETE', token })
const tryOut = (id: number, token = ann) =>
  api.call<Webhook>(`${WEBHOOKS}/${id}/test`, { method: 'POST', token })

type Row = { tries: number; dueAt: number }

function outboxRow(): Row | null {
  const database = new Database(join(api.dataDir, 'oncebox.db'), { readonly: true })
  try {
    return database.query<Row, []>('SELECT tries, due_at AS dueAt FROM outbox').get()
  } finally {
    database.close()
  }
}

async function added(webhook: object = {}, token = ann): Promise<Created> {
  const { status, body, text } = await add({ url: receiver.url(), ...webhook }, token)
  if (status !== 201) throw new Error(`the webhook was not made: ${status} ${text}`)
  return body
}

test('a webhook shows its secret once, and of its URL only the host', async () => {
  const made = await add({ url: `${receiver.url('/secret-path')}?token=abc` })
  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({
    ...{ host: receiver.host, format: 'standard', with_name: false, last_delivery: null, last_error: null },
    events: expect.arrayContaining(['push.opened', 'backup.failed']),
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
  })
  const listed = await list()
  expect(listed.status).toBe(200)
  expect(listed.body.find(({ id }) => id === made.body.id)).toMatchObject({ host: receiver.host })
  for (const text of [listed.text, made.text]) expect(text).not.toMatch(/secret-path|abc/)
  expect(listed.text).not.toContain('whsec_')
  expect((await remove(made.body.id)).status).toBe(200)
})

describe('the server refuses', () => {
  test.each([
    [{ url: 'https://elsewhere.example/' }, 'url'],
    [{ url: 'https://hook.example:8443/' }, 'url'],
    [{ url: 'http://127.0.0.1/' }, 'url'],
    [{ url: 'http://169.254.169.254/latest/meta-data' }, 'url'],
    [{ url: 'http://[::1]/' }, 'url'],
    [{ url: 'https://ann:secret@hook.example/' }, 'url'],
    [{ url: 'gopher://hook.example/' }, 'url'],
    [{ url: `https://hook.example/${'a'.repeat(2_000)}` }, 'url'],
    [{ url: '' }, 'url'],
    [{}, 'url'],
    [{ url: 7 }, 'url'],
    [{ url: 'https://hook.example/', format: 'pager' }, 'format'],
    [{ url: 'https://hook.example/', events: ['push.eaten'] }, 'events'],
    [{ url: 'https://hook.example/', events: [] }, 'events'],
    [{ url: 'https://hook.example/', with_name: 'perhaps' }, 'with_name'],
  ])('%j with a problem of %s', async (webhook, field) => {
    const { status, body } = await add(webhook)
    expect(status).toBe(422)
    expect(Object.keys(body)).toEqual(['error', field])
  })

  test('a body without a webhook, with an example of one', async () => {
    const { status, body } = await api.call<{ error: string }>(WEBHOOKS, { json: {}, token: ann })
    expect([status, body.error]).toEqual([
      400,
      'The body needs an object "webhook", as in {"webhook": {"url": "…"}}',
    ])
  })

  test('all invalid fields at once', async () => {
    const { status, body } = await add({
      url: 'https://else.example/',
      format: 'pager',
      with_name: 'perhaps',
    })
    expect(status).toBe(422)
    expect(Object.keys(body).toSorted()).toEqual(['error', 'format', 'url', 'with_name'])
  })

  test('one webhook above the limit, with the problem at `url`', async () => {
    const cleo = await api.addAccount('cleo@example.org')
    for (let n = 0; n < MOST_WEBHOOKS; n += 1) await added({}, cleo)
    const { status, body } = await add({ url: receiver.url() }, cleo)
    expect([status, Object.keys(body)]).toEqual([422, ['error', 'url']])
  })

  test('requests without a token or with an invalid one', async () => {
    for (const token of ['', 'obx_nonsense'])
      for (const [path, method] of [
        [WEBHOOKS, 'GET'],
        [WEBHOOKS, 'POST'],
        [`${WEBHOOKS}/1`, 'DELETE'],
        [`${WEBHOOKS}/1/test`, 'POST'],
      ] as const)
        expect((await api.call(path, { method, ...(token === '' ? {} : { token }) })).status).toBe(401)
  })

  test('the webhook of another account as missing', async () => {
    const { id } = await added()
    expect((await list(bob)).body).toEqual([])
    for (const one of [id, 0, 999_999, 'x', '1e3', '99999999999999999999']) {
      const tested = await api.call(`${WEBHOOKS}/${one}/test`, { method: 'POST', token: bob })
      for (const { status, body } of [await remove(one, bob), tested])
        expect<unknown>([status, body]).toEqual([404, { error: 'not-found' }])
    }
    expect((await list()).body.map((one) => one.id)).toContain(id)
    await remove(id)
  })
})

test('without --webhook-hosts every URL is refused, and nothing is sent', async () => {
  const plain = await startApi()
  try {
    const token = await plain.addAccount('ann@example.org')
    const json = { webhook: { url: receiver.url() } }
    expect((await plain.call(WEBHOOKS, { json, token })).body).toMatchObject({
      url: ['must be at a host that --webhook-hosts lists'],
    })
  } finally {
    await plain.close()
  }
})

test('opening a push sends a signed event without its link, payload, name or note', async () => {
  const { id, secret } = await added()
  const before = receiver.received.length
  const push = await api.create(
    {
      payload: 'the payload',
      name: 'the name',
      note: 'the note',
      expire_after_views: 1,
      passphrase: 'the word',
    },
    { token: ann },
  )
  await api.call(`/api/v2/pushes/${push.url_token}`, { headers: { 'x-push-passphrase': 'the%20word' } })
  const [opened, usedUp] = (await receiver.waitFor(before + 2)).slice(before)
  for (const one of [opened, usedUp]) {
    if (one === undefined) throw new Error('nothing was told')
    expect(isSigned(one, secret)).toBe(true)
    expect(one).toMatchObject({ method: 'POST', path: '/hook' })
    expect(one.headers.get('webhook-id')).toMatch(/^msg_[a-f0-9]{32}$/)
    expect(JSON.stringify([one.body, ...one.headers])).not.toMatch(
      new RegExp(`the payload|the name|the note|the word|${push.url_token}`),
    )
  }
  const [first, last] = [opened, usedUp].map((one) => JSON.parse(one?.body ?? ''))
  const at = expect.stringMatching(/^2026-11-20T12:/)
  expect(first).toMatchObject({
    type: 'push.opened',
    timestamp: at,
    data: { kind: 'text', views_remaining: 0 },
  })
  expect(last).toMatchObject({ type: 'push.used_up', data: { push: first.data.push } })
  await waitUntil(async () => (await list()).body.find((one) => one.id === id)?.last_delivery !== null)
  await remove(id)
})

test('the name is sent to webhooks that ask for it, as text without markup', async () => {
  const name = 'for "Bob"\\ <!channel> <https://evil.example|x> & \u2028 ünï [a](b)'
  const formats = ['standard', 'slack', 'teams', 'ntfy', 'gotify', 'matrix', 'home-assistant']
  const made = [await added({ with_name: false })]
  for (const format of formats)
    made.push(
      await added({ format, with_name: true, events: ['push.opened'], url: receiver.url(`/${format}`) }),
    )
  const before = receiver.received.length
  const push = await api.create({ name }, { token: ann })
  await api.call(`/api/v2/pushes/${push.url_token}`)
  const told = (await receiver.waitFor(before + formats.length + 1)).slice(before)
  for (const one of told) {
    expect(JSON.stringify([...one.headers])).not.toContain('Bob')
    const text = JSON.stringify(JSON.parse(one.body))
    const isAsked = !one.path.startsWith('/hook')
    expect(text.includes('Bob')).toBe(isAsked)
    if (isAsked && !one.path.startsWith('/slack')) expect(text).toContain(JSON.stringify(name).slice(1, -1))
    if (one.path.startsWith('/slack')) expect(one.body).not.toMatch(/[<>]/)
  }
  for (const { id } of made) await remove(id)
})

test('a test is sent at once, reports its result, and runs once at a time', async () => {
  const { id, secret } = await added()
  const before = receiver.received.length
  expect((await tryOut(id)).body).toMatchObject({ id, last_error: null, last_delivery: expect.any(String) })
  const [sent] = receiver.received.slice(before)
  expect(sent && isSigned(sent, secret)).toBe(true)
  expect(JSON.parse(sent?.body ?? '')).toMatchObject({ type: 'webhook.test' })
  answer = () => new Response('<h1>secret inside</h1>', { status: 403 })
  const refused = await tryOut(id)
  expect(refused.body).toMatchObject({ last_error: 'refused' })
  expect(refused.text).not.toContain('inside')
  const { promise, resolve } = Promise.withResolvers<Response>()
  answer = () => promise
  const running = tryOut(id)
  await receiver.waitFor(before + 3)
  expect((await tryOut(id)).status).toBe(409)
  resolve(new Response(null, { status: 200 }))
  expect((await running).body).toMatchObject({ last_error: null })
  answer = () => new Response(null, { status: 204 })
  await remove(id)
})

test('tests of webhooks are limited by account, with Retry-After', async () => {
  const cleo = await api.addAccount('trying@example.org')
  const { id } = await added({}, cleo)
  const before = receiver.received.length
  for (let n = 0; n < 10; n += 1) expect((await tryOut(id, cleo)).status).toBe(200)
  const refused = await api.fetch(`${WEBHOOKS}/${id}/test`, { method: 'POST', token: cleo })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
  expect(await refused.json()).toEqual({ error: 'Too many tests: try again in 60 s.' })
  expect(receiver.received.length).toBe(before + 10)
  const { id: other } = await added({}, bob)
  expect((await tryOut(other, bob)).status).toBe(200)
  api.clock.advance(60_000)
  expect((await tryOut(id, cleo)).status).toBe(200)
  await remove(id, cleo)
  await remove(other, bob)
})

test('a webhook is reported when it starts and stops failing, and in /readyz meanwhile', async () => {
  const part = async () => {
    const ready = await api.fetch('/readyz', { from: '127.0.0.1' })
    const { checks } = (await ready.json()) as { checks: { webhooks: string } }
    return [ready.status, checks.webhooks]
  }
  const { id } = await added()
  const { id: silent } = await added({ events: ['push.locked'] })
  const toldOf = (words: string) => api.log.filter((line) => line.includes(words)).length
  expect(await part()).toEqual([200, 'ok'])
  answer = () => new Response(null, { status: 500 })
  const push = await api.create({}, { token: ann })
  await api.call(`/api/v2/pushes/${push.url_token}`)
  const begins = `warn webhook ${id} (${receiver.host}) cannot take the message now: messages wait`
  await waitUntil(() => toldOf(begins) === 1 && outboxRow()?.tries === 1)
  await waitUntil(async () => (await part())[1] !== 'ok')
  expect(await part()).toEqual([
    200,
    expect.stringContaining(`${receiver.host} cannot take the message now. Mend the receiver`),
  ])
  await waitUntil(() => {
    api.clock.advance(10_000)
    return (outboxRow()?.tries ?? 0) > 2
  })
  expect(toldOf(begins)).toBe(1)
  answer = () => new Response(null, { status: 204 })
  await waitUntil(() => {
    api.clock.advance(10_000)
    return outboxRow() === null
  })
  expect(toldOf(`info webhook ${id} (${receiver.host}) takes messages again`)).toBe(1)
  expect(toldOf(`webhook ${silent} `)).toBe(0)
  expect(await part()).toEqual([200, 'ok'])
  await remove(id)
  await remove(silent)
})

test('a webhook whose URL cannot be decrypted is reported as damaged', async () => {
  const { id } = await added()
  alterDatabase(api.dataDir, `UPDATE webhooks SET sealed = zeroblob(length(sealed)) WHERE id = ${id}`)
  const push = await api.create({}, { token: ann })
  await api.call(`/api/v2/pushes/${push.url_token}`)
  await waitUntil(() => api.log.some((line) => line.includes(`damaged on disk: webhook ${id} is not as`)))
  await remove(id)
})

test('an hour of 500 leads to growing pauses, with the same id in each try, then to delivery', async () => {
  const { id } = await added()
  const before = receiver.received.length
  answer = () => new Response(null, { status: 500 })
  const push = await api.create({}, { token: ann })
  await api.call(`/api/v2/pushes/${push.url_token}`)
  await receiver.waitFor(before + 1)
  const start = api.clock.now()
  for (let tries = 1; api.clock.now() < start + HOUR; tries += 1) {
    await receiver.waitFor(before + tries)
    // The lease of a running try is not one of these pauses.
    const due = nextTryAt({ at: start, tries }, api.clock.now())
    await waitUntil(() => outboxRow()?.dueAt === due)
    expect(outboxRow()).toMatchObject({ tries })
    expect(receiver.received.length).toBe(before + tries)
    api.clock.set(due)
  }
  expect(receiver.received.length - before).toBe(6)
  answer = () => new Response(null, { status: 204 })
  await waitUntil(() => outboxRow() === null)
  expect((await list()).body.find((one) => one.id === id)?.last_error).toBeNull()
  const ids = receiver.received.slice(before).map(({ headers }) => headers.get('webhook-id'))
  expect(new Set(ids).size).toBe(1)
  await remove(id)
})
