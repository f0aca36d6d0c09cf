// The total of wrong passphrases: the last allowed one expires a push that viewers may delete, and locks any
// other.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type Api, type PushBody, startApi, type Wire } from '../support/api.ts'
import type { Init } from '../support/instance.ts'
import { valueIn } from '../support/page-facts.ts'

const PASSWORD = 'correct horse battery'
const LANGUAGES = ['en', 'de', 'fr', 'es', 'ja', 'ar']

let api: Api
let owner: string

beforeAll(async () => {
  api = await startApi({ flags: { 'max-passphrase-attempts': '3' } })
  owner = await api.addAccount('owner@example.org')
})
afterAll(() => api.close())

const create = (push: Wire = {}, init: Init = { token: owner }) =>
  api.create({ passphrase: 'sesame', ...push }, init)
const tryWith = (passphrase: string, { url_token }: PushBody, init: Init = {}) =>
  api.retrieve(url_token, { headers: { 'x-push-passphrase': passphrase }, ...init })
const auditOf = async ({ url_token }: PushBody) =>
  (await api.audit(url_token, owner)).map(({ kind, ip }) => `${kind} ${ip}`)

async function spend(push: PushBody): Promise<void> {
  for (let tried = 0; tried < 3; tried += 1) expect((await tryWith('wrong', push)).status).toBe(401)
}

function countRows(table: string): number {
  const database = new Database(join(api.dataDir, 'oncebox.db'), { readonly: true })
  try {
    return database.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? 0
  } finally {
    database.close()
  }
}

describe('the last allowed wrong passphrase of a push that viewers may delete', () => {
  test('answers 401 and says so; the push is expired, and the audit entry carries the visitor’s address', async () => {
    const push = await create()
    await tryWith('wrong', push)
    await tryWith('wrong', push)
    const secrets = countRows('push_secrets')
    const last = await tryWith('wrong', push, { from: '198.51.100.7' })
    expect([last.status, last.body as unknown]).toEqual([
      401,
      expect.objectContaining({ status: 'unauthorized', message: expect.stringContaining('has expired') }),
    ])
    expect(countRows('push_secrets')).toBe(secrets - 1)
    const { status, body } = await tryWith('sesame', push)
    expect([status, body.expired, body.deleted, body.payload]).toEqual([200, true, false, null])
    expect((await auditOf(push)).slice(-3)).toEqual([
      'failed_passphrase 198.51.100.7',
      'expire 198.51.100.7',
      'failed_view 192.0.2.1',
    ])
  })

  test('is exact even if many wrong ones are sent at once', async () => {
    const push = await create()
    const tries = await Promise.all(Array.from({ length: 9 }, () => tryWith('wrong', push)))
    expect(tries.filter(({ status }) => status === 401)).toHaveLength(3)
    expect(tries.filter(({ status, body }) => status === 200 && body.expired).length).toBe(6)
    const log = await auditOf(push)
    expect(log.filter((entry) => entry.startsWith('failed_passphrase'))).toHaveLength(3)
    expect(log.filter((entry) => entry.startsWith('expire'))).toHaveLength(1)
  })

  test('adds up across minutes, restarts and right passphrases', async () => {
    const push = await create()
    await tryWith('wrong', push)
    expect((await tryWith('sesame', push)).status).toBe(200)
    api.clock.advance(3_600_000)
    await tryWith('wrong', push)
    await api.restart()
    expect((await tryWith('sesame', push)).status).toBe(200)
    await api.retrieve(push.url_token)
    await tryWith('wrong', push)
    expect((await tryWith('sesame', push)).body.expired).toBe(true)
  })

  test('is explained on the page in each language, to later visitors too', async () => {
    const push = await create()
    await tryWith('wrong', push)
    await tryWith('wrong', push)
    const path = new URL(push.html_url).pathname
    const page = await (await api.fetch(path)).text()
    const nonce = valueIn(page, 'nonce')
    const body = new URLSearchParams({ nonce, passphrase: 'wrong' })
    const last = await api.fetch(path, { method: 'POST', body, headers: { origin: 'http://localhost' } })
    expect([last.status, await last.text()]).toEqual([404, expect.stringContaining('Too many wrong')])
    const texts = await Promise.all(
      LANGUAGES.map(async (language) => (await api.fetch(`${path}?lang=${language}`)).text()),
    )
    expect(new Set(texts.map((text) => text.slice(text.indexOf('<h1>'), text.indexOf('</main>')))).size).toBe(
      6,
    )
    for (const text of texts) expect(text).not.toContain('name="passphrase"')
  })
})

describe.each([{ deletable_by_viewer: false }, { kind: 'url', payload: 'https://example.org/' }])(
  'a push that viewers may not delete (%j)',
  (kind) => {
    test('is locked by the last one, even for the right passphrase and its owner', async () => {
      const push = await create(kind)
      await spend(push)
      for (const init of [{}, { token: owner }, { from: '127.0.0.1' }]) {
        const { status, headers, body } = await tryWith('sesame', push, init)
        expect([status, headers.get('retry-after')]).toEqual([429, '60'])
        expect(String((body as unknown as Wire).error)).toContain('until its owner unlocks it')
      }
      expect((await api.retrieve(push.url_token)).status).toBe(401)
      expect((await auditOf(push)).slice(1)).toEqual([
        ...Array(3).fill('failed_passphrase 192.0.2.1'),
        'lock 192.0.2.1',
        'failed_passphrase 192.0.2.1',
      ])
      await api.restart()
      api.clock.advance(3_600_000)
      expect((await tryWith('sesame', push)).status).toBe(429)
    })

    test('is locked exactly at the last one, even if many are sent at once', async () => {
      const push = await create(kind)
      const tries = await Promise.all(Array.from({ length: 9 }, () => tryWith('wrong', push)))
      const statuses = tries.map(({ status }) => status).sort()
      expect(statuses).toEqual([...Array(3).fill(401), ...Array(6).fill(429)])
    })

    test('still expires by time, and its owner can still expire it', async () => {
      const [lapsing, ended] = [await create(kind), await create(kind)]
      await spend(lapsing)
      await spend(ended)
      expect((await api.expire(ended.url_token, { token: owner })).status).toBe(200)
      expect((await tryWith('sesame', ended)).body).toMatchObject({ expired: true, deleted: true })
      api.clock.advance(8 * 86_400_000)
      expect((await tryWith('sesame', lapsing)).body).toMatchObject({ expired: true, deleted: false })
    })
  },
)

test('stays locked until it expires if it has no owner, and says so', async () => {
  const push = await create({ deletable_by_viewer: false }, {})
  await spend(push)
  const { status, body } = await tryWith('sesame', push)
  expect([status, String((body as unknown as Wire).error)]).toEqual([
    429,
    expect.stringContaining(
      `no owner who could unlock it, and stays locked until it expires at ${push.expires_at}`,
    ),
  ])
  const page = await (await api.fetch(new URL(push.html_url).pathname)).text()
  expect(page).toContain('nobody can unlock this link')
})

describe('unlocking', () => {
  const send = async (path: string, fields: Record<string, string>, cookie = '') =>
    api.fetch(path, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: { origin: 'http://localhost', cookie },
    })

  async function signIn(email: string) {
    const answer = await send('/sign-in', { email, password: PASSWORD })
    const cookie = answer.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
    const text = await (await api.fetch('/account', { headers: { cookie } })).text()
    return { cookie, form: valueIn(text, 'form') }
  }

  test('is offered to the owner of a locked push, on the pages, and resets the count', async () => {
    const push = await create({ deletable_by_viewer: false })
    const path = `/pushes/${push.url_token}`
    const { cookie, form } = await signIn('owner@example.org')
    const look = async (at = path) => (await api.fetch(at, { headers: { cookie } })).text()
    expect(await look()).not.toContain('/unlock')
    await spend(push)
    expect(await look()).toContain(`${path}/unlock`)
    expect(await look('/pushes')).toContain('Locked')
    expect(await look(`/p/${push.url_token}`)).toContain(`href="${path}"`)

    await api.addAccount('other@example.org')
    const other = await signIn('other@example.org')
    expect((await send(`${path}/unlock`, { form: other.form }, other.cookie)).status).toBe(404)
    expect((await send(`${path}/unlock`, { form: 'x' }, cookie)).status).toBe(403)
    expect((await send(`${path}/unlock`, { form })).status).toBe(303)
    expect((await tryWith('sesame', push)).status).toBe(429)

    const unlocked = await send(`${path}/unlock`, { form }, cookie)
    expect([unlocked.status, unlocked.headers.get('location')]).toEqual([303, `${path}?done=unlocked`])
    expect(await look(`${path}?done=unlocked`)).toContain('Unlocked')
    expect(await look()).toContain('Unlocked by you')
    expect((await tryWith('sesame', push)).body.payload).toBe('correct horse')
    await spend(push)
    expect((await tryWith('sesame', push)).status).toBe(429)
  })

  test('does not change a push that is not locked', async () => {
    const [open, ended] = [await create({ deletable_by_viewer: false }), await create()]
    await tryWith('wrong', open)
    await spend(ended)
    const { cookie, form } = await signIn('owner@example.org')
    for (const { url_token } of [open, ended])
      expect((await send(`/pushes/${url_token}/unlock`, { form }, cookie)).status).toBe(303)
    expect(await auditOf(open)).toEqual(['creation 192.0.2.1', 'failed_passphrase 192.0.2.1'])
    expect((await tryWith('sesame', ended)).body.expired).toBe(true)
  })
})

test('0 disables the total but not the five a minute', async () => {
  const endless = await startApi({ flags: { 'max-passphrase-attempts': '0' } })
  try {
    const { url_token } = await endless.create({ passphrase: 'sesame' })
    const tryOne = (passphrase: string) =>
      endless.retrieve(url_token, { headers: { 'x-push-passphrase': passphrase } })
    for (let tried = 1; tried <= 110; tried += 1) {
      expect((await tryOne('wrong')).status).toBe(401)
      if (tried % 5 === 0) endless.clock.advance(60_000)
    }
    expect((await tryOne('sesame')).status).toBe(200)
  } finally {
    await endless.close()
  }
}, 300_000)
