// The required result of importing a real data folder of Password Pusher 2.11: its links, clients and
// sign-ins keep working here.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Secret, TOTP } from 'otpauth'
import { asOf, type ExpectedPush, expected, FIXTURE, isOver } from './fixture.ts'
import { importReport, newFolder, verification } from './import.ts'
import { createTestClock, startInstance, type TestInstance } from './instance.ts'
import { createPeople } from './people.ts'

/** Registers the tests. `database` returns the value of `--database`, when the tests run. */
export function fixtureCases(database: () => Promise<string>): void {
  let source: { database: string; storage: string; masterKeyFile: string }
  let dataDir: string
  let box: TestInstance

  beforeAll(async () => {
    dataDir = newFolder()
    source = {
      database: await database(),
      storage: join(FIXTURE, 'storage'),
      masterKeyFile: join(FIXTURE, 'master.key'),
    }
    const report = await importReport({ ...source, dataDir }, asOf)
    expect(report).toMatchObject({
      accounts: { came: 3, disabled: 0, known: 0 },
      apiTokens: 3,
      secondFactors: 1,
      pushes: { live: 9, expired: 3, known: 0 },
      files: { count: 2, bytes: 70_009 },
      notes: [],
      failures: [],
    })
    const compared = await verification({ ...source, dataDir }, asOf)
    expect(compared).toEqual({ accounts: 3, live: 9, expired: 3, gone: 0, failures: [], differences: [] })
    box = await startInstance({ dataDir, clock: createTestClock(asOf) })
  })

  afterAll(async () => {
    await box.close()
    rmSync(dataDir, { recursive: true, force: true })
  })

  const tokenOf = (email: string | null) =>
    expected.accounts.find((account) => account.email === email)?.api_token ?? ''
  const ask = async (path: string, init = {}) => {
    const response = await box.fetch(path, init)
    return { status: response.status, body: await response.json() }
  }

  test('no imported text is readable in the folder', async () => {
    const files = [...new Bun.Glob('**').scanSync({ cwd: dataDir, onlyFiles: true })]
    const bytes = Buffer.concat(files.map((name) => readFileSync(join(dataDir, name))))
    const texts = expected.pushes.flatMap((push) => [
      push.url_token,
      push.name,
      push.note,
      push.payload ?? '',
    ])
    const names = expected.pushes.flatMap(({ files }) => files.map(({ filename }) => filename))
    const tokens = expected.accounts.map(({ api_token }) => api_token)
    for (const text of [...texts, ...names, ...tokens].filter((text) => text.length > 5))
      expect(bytes.includes(text)).toBe(false)
  })

  test.each(['active', 'expired'])(
    'the lists of the owners hold their %s pushes, with name and note',
    async (list) => {
      for (const { email, api_token: token } of expected.accounts) {
        const { body } = await ask(`/api/v2/pushes/${list}`, { token })
        const own = expected.pushes.filter(
          (push) => push.owner === email && isOver(push) === (list === 'expired'),
        )
        expect(body).toHaveLength(own.length)
        const times = body.map(({ created_at }: ExpectedPush) => created_at)
        expect(times).toEqual([...times].sort().reverse())
        for (const push of own) {
          const found = body.find(({ url_token }: ExpectedPush) => url_token === push.url_token)
          const { kind, name, note, expire_after_days, expire_after_views, views_remaining } = push
          const { retrieval_step, deletable_by_viewer, deleted, created_at, days_remaining } = push
          const same = {
            kind,
            name,
            note,
            expire_after_days,
            expire_after_views,
            views_remaining,
            days_remaining,
          }
          expect(found).toMatchObject({ ...same, retrieval_step, deletable_by_viewer, deleted, created_at })
          expect(found.expired).toBe(isOver(push))
          if (push.expired_on !== null) expect(found.expired_on).toBe(push.expired_on)
          expect(found.passphrase_required).toBe((push.passphrase ?? '') !== '')
        }
      }
    },
  )

  test('audit logs have kinds, addresses and times, in both versions of the API', async () => {
    for (const push of expected.pushes.filter(({ owner }) => owner !== null)) {
      const init = { token: tokenOf(push.owner) }
      const { logs } = (await ask(`/api/v2/pushes/${push.url_token}/audit`, init)).body
      const { views } = (await ask(`/p/${push.url_token}/audit.json`, init)).body
      const short = (entry: Record<string, string>) => ({
        kind: entry.kind,
        ip: entry.ip,
        user_agent: entry.user_agent,
        at: entry.created_at,
      })
      expect(logs.slice(0, push.audit.length).map(short)).toEqual(push.audit)
      expect(views).toHaveLength(logs.length)
    }
  })

  test('every old link opens its push', async () => {
    for (const { url_token } of expected.pushes) {
      for (const path of [
        `/en/p/${url_token}`,
        `/f/${url_token}`,
        `/r/${url_token}`,
        `/p/${url_token}/passphrase`,
      ]) {
        const moved = await box.fetch(path)
        expect(moved.status).toBe(301)
        expect(moved.headers.get('location')).toStartWith(`/p/${url_token}`)
      }
      const push = expected.pushes.find((other) => other.url_token === url_token)
      const over = push !== undefined && isOver(push)
      for (const path of [`/p/${url_token}`, `/p/${url_token}/r`])
        expect((await box.fetch(path)).status).toBe(over ? 404 : 200)
    }
  })

  test('live pushes open with passphrase and files, through both versions of the API', async () => {
    for (const [at, push] of expected.pushes.entries()) {
      const over = isOver(push)
      const path = at % 2 === 0 ? `/api/v2/pushes/${push.url_token}` : `/p/${push.url_token}.json`
      if (!over && push.passphrase !== '') {
        expect((await ask(path)).status).toBe(401)
        expect((await ask(`${path}?passphrase=wrong`)).status).toBe(401)
      }
      const headers = { 'x-push-passphrase': encodeURIComponent(push.passphrase ?? '') }
      const { status, body } = await ask(path, push.passphrase ? { headers } : {})
      expect({ label: push.label, status }).toEqual({ label: push.label, status: 200 })
      expect(body.payload).toBe(over ? null : push.payload)
      expect(body.views_remaining).toBe(Math.max(0, push.views_remaining - (over ? 0 : 1)))
      for (const [n, file] of push.files.entries()) {
        const download = await box.fetch(body.files[n].url)
        const bytes = Buffer.from(await download.arrayBuffer())
        expect(body.files[n].filename).toBe(file.filename)
        expect(bytes).toHaveLength(file.bytes)
        expect(createHash('sha256').update(bytes).digest('hex')).toBe(file.sha256)
      }
    }
  })

  test('clients keep their tokens, in every scheme', async () => {
    for (const { email, api_token } of expected.accounts) {
      const basic = `Basic ${Buffer.from(`${email}:${api_token}`).toString('base64')}`
      const headers = [
        { authorization: `Bearer ${api_token}` },
        { authorization: `Token token="${api_token}"` },
        { authorization: api_token },
        { authorization: basic },
        { 'x-user-token': api_token, 'x-user-email': email },
      ]
      for (const given of headers)
        expect((await box.fetch('/api/v2/pushes/active', { headers: given })).status).toBe(200)
    }
    const { apiTokens } = box
    const [token] = await apiTokens().listApiTokens('ann@example.org')
    expect(token).toMatchObject({ name: 'Password Pusher', prefix: '' })
  })

  test('people sign in with their passwords and second factors', async () => {
    const people = createPeople(box)
    for (const { email, password, totp_secret: secret } of expected.accounts) {
      // Each try takes as long as a bcrypt hash.
      if (email === 'ann@example.org')
        expect((await people.post('/sign-in', { email, password: `${password}!` })).status).toBe(422)
      if (secret === null) {
        const person = await people.signIn(email, { password })
        expect((await person.get('/account')).text).toContain(email)
        continue
      }
      const asked = await people.post('/sign-in', { email, password })
      const pending = /name="pending" value="([^"]+)"/.exec(asked.text)?.[1] ?? ''
      const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: asOf })
      expect((await people.post('/sign-in/code', { pending, code })).status).toBe(303)
    }
    // The second time, Oncebox has replaced the hash.
    const { email, password } = expected.accounts[1] ?? { email: '', password: '' }
    await people.signIn(email, { password })
  })

  test('a repeated import adds nothing and restores nothing', async () => {
    await box.stop()
    const report = await importReport({ ...source, dataDir }, asOf)
    expect(report).toMatchObject({ accounts: { came: 0, known: 3 }, apiTokens: 0, secondFactors: 0 })
    expect(report.pushes).toEqual({ live: 0, expired: 0, known: 12 })
    const compared = await verification({ ...source, dataDir }, asOf)
    expect(compared.differences).toEqual([])
    box = await startInstance({ dataDir, clock: createTestClock(asOf) })
  })
}
