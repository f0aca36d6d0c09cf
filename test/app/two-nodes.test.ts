// Two nodes behind a load balancer that sends each request to either: both know what one process alone would
// keep in memory.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { openTestBucket, type TestBucket } from '../support/bucket.ts'
import { type Init, startInstance, type TestInstance } from '../support/instance.ts'
import { needs } from '../support/needs.ts'
import { createPeople, type People } from '../support/people.ts'
import { startTestPostgres, type TestDatabase, type TestPostgres } from '../support/postgres.ts'
import { makeNodeFolder } from '../support/postgres-store.ts'
import { untilTaken } from '../support/waiting.ts'

const START_MS = 300_000
const EMAIL = 'ann@example.org'

/** Repeats a request while the database is too busy for it. */
const patientClientOf = ({ fetch }: TestInstance) => ({
  fetch: (path: string, init?: Init) => untilTaken(() => fetch(path, init)),
})

const count = <T>(all: readonly T[]) =>
  Object.fromEntries(
    [...new Set(all)].map((one) => [String(one), all.filter((other) => other === one).length]),
  )

needs('postgres').describe('two nodes', () => {
  let postgres: TestPostgres
  let database: TestDatabase
  let bucket: TestBucket
  let nodes: [TestInstance, TestInstance]
  let people: [People, People]
  let token: string
  const folders = [makeNodeFolder(), makeNodeFolder()] as const
  beforeAll(async () => {
    postgres = await startTestPostgres()
    database = await postgres.newDatabase()
    bucket = await openTestBucket()
    const flags = {
      'key-file': join(folders[0].dataDir, '..', 'instance.key'),
      'database-url': `${database.address}?sslmode=disable`,
      'files-url': bucket.url,
    }
    const { accessKeyId, secretAccessKey } = bucket.credentials
    const env = { ONCEBOX_S3_ACCESS_KEY_ID: accessKeyId, ONCEBOX_S3_SECRET_ACCESS_KEY: secretAccessKey }
    const start = ({ dataDir }: { dataDir: string }) => startInstance({ flags, env, dataDir })
    nodes = [await start(folders[0]), await start(folders[1])]
    people = [createPeople(patientClientOf(nodes[0])), createPeople(patientClientOf(nodes[1]))]
    token = await nodes[0].addAccount(EMAIL)
  }, START_MS)
  afterAll(async () => {
    for (const node of nodes ?? []) await node.close()
    await database?.close()
    await bucket?.close()
    await postgres?.stop()
    for (const { remove } of folders) remove()
  })

  const nodeOf = (n: number) => nodes[n % 2 === 0 ? 0 : 1]
  const read = async (answer: Response) => ({
    status: answer.status,
    text: await answer.text(),
    headers: answer.headers,
  })
  const fetchOn = async (n: number, path: string, init: Init = {}) =>
    read(await patientClientOf(nodeOf(n)).fetch(path, init))
  const create = async (push: object, init: Init = {}) => {
    const { status, text } = await fetchOn(0, '/api/v2/pushes', { json: { push }, ...init })
    expect([status, text]).toEqual([201, expect.any(String)])
    return JSON.parse(text).url_token as string
  }
  const withPassphrase = (n: number, passphrase: string): Init => ({
    headers: { 'x-push-passphrase': passphrase },
    from: `192.0.2.${n}`,
  })
  const retrieve = (n: number, urlToken: string, passphrase: string) =>
    fetchOn(n, `/api/v2/pushes/${urlToken}`, withPassphrase(n, passphrase))

  // The clock of a test stands still at a moment long ago.
  test('each reports that its machine’s clock differs from the database’s', async () => {
    const answer = await nodes[0].fetch('/readyz', { from: '127.0.0.1' })
    const { ready, checks } = await answer.json()
    expect([ready, checks.clock]).toEqual([true, expect.stringContaining('the one of the database server')])
  })

  test("a push whose key is missing stays in its owner's list, cannot be opened, and can be deleted", async () => {
    const headers = { authorization: `Bearer ${token}` }
    const whole = await create({ payload: 'whole' }, { headers })
    const damaged = await create({ payload: 'damaged' }, { headers })
    const sql = database.connect(1)
    try {
      await sql.unsafe(`UPDATE pushes SET key_number = 77 WHERE id = (SELECT max(id) FROM pushes)`)
    } finally {
      await sql.close({ timeout: 0 })
    }
    for (const n of [0, 1]) {
      const { status, text } = await fetchOn(n, '/api/v2/pushes/active', { headers })
      expect(status).toBe(200)
      expect(text).toContain(whole)
      expect(text).toContain(damaged)
      expect((await fetchOn(n, `/api/v2/pushes/${damaged}`)).status).toBe(500)
      expect((await fetchOn(n, `/api/v2/pushes/${whole}`)).status).toBe(200)
    }
    const deleted = await fetchOn(1, `/api/v2/pushes/${damaged}`, { method: 'DELETE', headers })
    expect([deleted.status, JSON.parse(deleted.text)]).toEqual([
      200,
      expect.objectContaining({ expired: true, deleted: true }),
    ])
    expect(JSON.parse((await fetchOn(0, `/api/v2/pushes/${damaged}`)).text)).toMatchObject({
      ...{ expired: true, deleted: true, payload: null },
    })
    expect((await fetchOn(0, '/api/v2/pushes/expired', { headers })).status).toBe(200)
  })

  test('together answer at most five wrong passphrases, even concurrent ones', async () => {
    for (let round = 0; round < 3; round += 1) {
      const urlToken = await create({ payload: 'x', passphrase: 'sesame', expire_after_views: 5 })
      const tries = await Promise.all(
        Array.from({ length: 20 }, (_, n) => retrieve(n, urlToken, 'wrong').then(({ status }) => status)),
      )
      expect(count(tries)).toEqual({ 401: 5, 429: 15 })
      expect((await retrieve(1, urlToken, 'sesame')).status).toBe(429)
    }
  })

  test('accept right passphrases at the same time, as often as the push allows', async () => {
    const urlToken = await create({ payload: 'x', passphrase: 'sesame', expire_after_views: 5 })
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => retrieve(n, urlToken, 'sesame')))
    expect(count(answers.map(({ status, text }) => `${status} ${JSON.parse(text).payload}`))).toEqual({
      '200 x': 5,
      '200 null': 7,
    })
  })

  test('a page of one node opens its push once, even through the other node', async () => {
    const urlToken = await create({ payload: 'top secret', expire_after_views: 5 })
    const { text } = await fetchOn(0, `/p/${urlToken}`)
    const nonce = /name="nonce" value="([\w-]+)"/.exec(text)?.[1] ?? ''
    const reveal = (n: 0 | 1) => people[n].post(`/p/${urlToken}`, { nonce })
    const answers = await Promise.all([reveal(1), reveal(0), reveal(1)])
    expect(count(answers.map(({ status }) => status))).toEqual({ 200: 1, 409: 2 })
    const { text: told } = await fetchOn(1, `/api/v2/pushes/${urlToken}`)
    expect(JSON.parse(told).views_remaining).toBe(3)
  })

  test('a session works on both, and both offer the same secret for an authenticator app', async () => {
    const ann = await people[0].signIn(EMAIL)
    const headers = { cookie: ann.cookie }
    const account = await people[1].get('/account', { headers })
    expect(account.text).toContain(EMAIL)
    expect(account.text).toContain(`value="${ann.form}"`)
    await ann.post('/account/confirm', { password: people[0].password })
    const secretOn = async (n: 0 | 1) =>
      /name="secret" value="(\w+)"/.exec((await people[n].get('/account/two-factor', { headers })).text)?.[1]
    const secret = await secretOn(0)
    expect(secret).toMatch(/^[A-Z2-7]{32}$/)
    expect(await secretOn(1)).toBe(secret ?? '')
  })

  test('wrong passwords are counted on both', async () => {
    const wrong = { email: 'bob@example.org', password: 'not the password' }
    const tries = await Promise.all(
      Array.from({ length: 16 }, (_, n) =>
        people[n % 2 === 0 ? 0 : 1].post('/sign-in', wrong, { from: '192.0.2.99' }),
      ),
    )
    expect(count(tries.map(({ status }) => status))).toEqual({ 422: 10, 429: 6 })
  })

  test('a create with an idempotency key creates one push, whichever node receives it', async () => {
    const key = { 'idempotency-key': 'a-key-of-one-create-12345' }
    const send = (n: number) =>
      fetchOn(n, '/api/v2/pushes', { json: { push: { payload: 'x' } }, headers: key, token })
    const answers = await Promise.all([send(0), send(1)])
    const made = answers.filter(({ status }) => status === 201).map(({ text }) => JSON.parse(text).url_token)
    expect(made.length).toBeGreaterThan(0)
    for (const n of [0, 1]) made.push(JSON.parse((await send(n)).text).url_token)
    expect(new Set(made).size).toBe(1)
    expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true)
  })

  test('a failure for a missing database privilege answers with the request id alone', async () => {
    const sql = database.connect(1)
    await sql.unsafe('REVOKE INSERT ON oncebox.push_secrets FROM CURRENT_USER')
    const { status, text } = await fetchOn(0, '/api/v2/pushes', { json: { push: { payload: 'x' } } })
    const { request_id: requestId, ...answer } = JSON.parse(text) as Record<string, string>
    expect([status, answer, requestId]).toEqual([
      500,
      { error: 'internal-error' },
      expect.stringMatching(/./),
    ])
    const logged = nodes[0].log.filter((line) => line.includes(requestId ?? 'none')).join()
    expect(logged).toContain('permission denied for table push_secrets')
    await sql.unsafe('GRANT INSERT ON oncebox.push_secrets TO CURRENT_USER')
    await sql.close({ timeout: 0 })
  })

  test('each shows a working setup link', async () => {
    for (const node of nodes) {
      const path = node.setupPath()
      expect(path).not.toBeNull()
      expect((await fetchOn(0, path ?? '')).status).toBe(200)
    }
  })
})
