// The compiled binary on PostgreSQL with files in a bucket: two nodes act as one, commands run beside them,
// and the database starts late, hangs, or cannot be used.

import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  BINARY,
  createStage,
  makeFolder,
  removeFolder,
  runOnDatabase,
  type Started,
} from '../support/binary.ts'
import { openTestBucket, type TestBucket } from '../support/bucket.ts'
import { type DatabaseServer, type ServerDatabase, startDatabaseServer } from '../support/database-servers.ts'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import type { TestInstance } from '../support/instance.ts'
import { needs } from '../support/needs.ts'
import { createPeople } from '../support/people.ts'
import { untilTaken, waitUntil } from '../support/waiting.ts'

const PASSWORD = 'correct horse battery'
const ANN = 'ann@example.org'
const BOB = 'bob@example.org'

needs('postgres').describe('on PostgreSQL', () => {
  const stage = createStage()
  const home = makeFolder()
  let server: DatabaseServer
  let database: ServerDatabase
  let bucket: TestBucket
  let proxy: FaultProxy
  beforeAll(async () => {
    server = await startDatabaseServer('postgres')
    database = await server.newDatabase()
    bucket = await openTestBucket()
    proxy = await startFaultProxy(server.port)
  })
  afterEach(async () => {
    proxy.set('pass')
    await stage.clear()
  })
  afterAll(async () => {
    await proxy?.close()
    await bucket?.close()
    await database?.close()
    await server?.stop()
    removeFolder(home)
  })

  const environment = () => ({
    ONCEBOX_DATABASE_URL: `${database.address}?sslrootcert=${server.authority}`,
    ONCEBOX_KEY_FILE: join(home, 'instance.key'),
    ONCEBOX_FILES_URL: bucket.url,
    ONCEBOX_S3_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
    ONCEBOX_S3_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
  })
  const throughProxy = () => ({
    ...environment(),
    ONCEBOX_DATABASE_URL: `${database.address.replace(`:${server.port}/`, `:${proxy.port}/`)}?sslmode=disable`,
  })
  const start = (env: Record<string, string> = environment()) => stage.start({ env })
  const run = (args: string[], input = '') => runOnDatabase(args, { input, env: environment() })

  function peopleOf({ url }: Started) {
    const fetchHere: Pick<TestInstance, 'fetch'>['fetch'] = (path, init = {}) => {
      const { json: _, from: __, ...rest } = init
      const headers = { ...(init.headers as Record<string, string>), origin: url }
      return fetch(`${url}${path}`, { ...rest, headers, redirect: 'manual' })
    }
    return createPeople({ fetch: fetchHere })
  }

  test('two nodes act as one server: each serves the pushes, files, accounts and sessions of the other', async () => {
    const [one, two] = [await start(), await start()]
    expect(one.stdout()).toMatch(/^Database: +postgres:\/\/127\.0\.0\.1:\d+\/\w+$/m)
    const added = await run(['user', 'add', ANN, '--password-stdin', '--admin'], `${PASSWORD}\n`)
    expect(added).toMatchObject({ code: 0, stdout: `${ANN} is added as an administrator\n` })
    const { stdout } = await run(['token', 'create', ANN])
    const authorization = `Bearer ${stdout.trim()}`

    const data = Buffer.from('the file').toString('base64')
    const files = [{ filename: 'a.txt', data }]
    const made = (await (
      await untilTaken(() =>
        one.create({ payload: 'hello', expire_after_views: 1, files }, { authorization }),
      )
    ).json()) as {
      url_token: string
    }
    const got = (await (await untilTaken(() => two.retrieve(made.url_token))).json()) as {
      payload: string
      files: { url: string }[]
    }
    expect(got.payload).toBe('hello')
    const { pathname } = new URL(got.files[0]?.url ?? '')
    expect(await (await one.ask(pathname)).text()).toBe('the file')
    expect(await (await one.retrieve(made.url_token)).json()).toMatchObject({ expired: true, payload: null })

    const ann = await peopleOf(one).signIn(ANN)
    const elsewhere = await peopleOf(two).get('/account', { headers: { cookie: ann.cookie } })
    expect([elsewhere.status, elsewhere.text.includes(ANN)]).toEqual([200, true])

    const { text: admin } = await ann.get('/admin')
    expect(admin).toContain(`postgres://127.0.0.1:${server.port}/${database.name}`)
    expect(admin).toContain('The data is in PostgreSQL. Back it up there')
    expect(admin).not.toContain('class="disk"')
    expect(admin.match(/data-label="Version"/g)).toHaveLength(2)
    expect(admin).toContain('this one')
    expect(admin).not.toContain('An upgrade is under way')

    const doctor = await run([
      'doctor',
      '--data-dir',
      one.dataDir,
      '--port',
      String(one.port),
      '--min-free-space',
      '0',
    ])
    expect(doctor.stdout).toMatch(/^ok +database +postgres:\S+ answers\.$/m)
    expect([doctor.code, doctor.stderr]).toEqual([0, ''])
    expect(`${doctor.stdout}${one.stderr()}`).not.toContain(server.password)
  })

  test('a second node is refused if its files would be on its own disk', async () => {
    await start()
    const { ONCEBOX_FILES_URL: _, ...env } = environment()
    const refused = await runOnDatabase(['serve', '--data-dir', join(home, 'lone'), '--port', '0'], { env })
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('--files-url')
  })

  test('a node that starts before its database waits for it', async () => {
    proxy.set('reset')
    const log = join(home, 'waiting.log')
    const starting = start({ ...throughProxy(), ONCEBOX_LOG_FILE: log })
    await waitUntil(
      () => existsSync(log) && readFileSync(log, 'utf8').includes('Waiting up to 60 s for PostgreSQL'),
    )
    proxy.set('pass')
    const node = await starting
    expect((await untilTaken(() => node.create({ payload: 'x' }))).status).toBe(201)
  })

  test('a signal ends the wait for the database', async () => {
    proxy.set('reset')
    const before = proxy.countRefused()
    const dataDir = stage.folder()
    const child = Bun.spawn([BINARY, 'serve', '--data-dir', dataDir, '--port', '0'], {
      ...{ stdio: ['ignore', 'ignore', 'pipe'], env: throughProxy() },
    })
    await waitUntil(() => proxy.countRefused() > before)
    child.kill('SIGTERM')
    expect(await child.exited).toBe(1)
    expect(await new Response(child.stderr).text()).toContain('Stopped before the database could be reached')
  })

  test('a rolled-back database is served again only after every push was expired', async () => {
    const restored = await server.newDatabase()
    const dataDir = stage.folder()
    const env = {
      ...environment(),
      ONCEBOX_DATABASE_URL: `${restored.address}?sslmode=disable`,
      ONCEBOX_KEY_FILE: join(home, 'restored.key'),
    }
    const node = await stage.start({ env, dataDir })
    const { url_token } = (await (await node.create({ payload: 'read since' })).json()) as {
      url_token: string
    }
    await node.end()
    await restored.sql`UPDATE oncebox.nodes SET mark = 'of an earlier heartbeat'`

    const refused = await runOnDatabase(['serve', '--data-dir', dataDir, '--port', '0'], { env })
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('run "oncebox expire-all"')
    const asked = await runOnDatabase(['expire-all'], { env })
    expect(asked.code).toBe(2)
    expect(asked.stderr).toContain('without a terminal to ask, --yes is needed')
    const done = await runOnDatabase(['expire-all', '--yes'], { env })
    expect(done).toMatchObject({ code: 0, stdout: '1 push is expired.\n' })
    expect(done.stderr).toContain('Pushes that can be opened by their links there: 1.')

    const again = await stage.start({ env, dataDir })
    expect(await (await again.retrieve(url_token)).json()).toMatchObject({ expired: true, payload: null })
    await again.end()
    await restored.close()
  })

  test('a wrong password ends the start at once, and is not shown', async () => {
    const env = { ...environment(), ONCEBOX_DATABASE_PASSWORD: 'not-this-one' }
    const refused = await runOnDatabase(['serve', '--data-dir', join(home, 'node'), '--port', '0'], { env })
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('it refuses the user')
    expect(refused.stderr).not.toMatch(/not-this-one|this is a bug/)
  })

  test('monitoring is answered while the database hangs, and the server recovers with it', async () => {
    const node = await start(throughProxy())
    const ready = async () => {
      const response = await node.ask('/readyz')
      return { status: response.status, ...((await response.json()) as { checks: Record<string, string> }) }
    }
    expect(await ready()).toMatchObject({ status: 200, checks: { database: 'ok' } })
    await run(['user', 'add', BOB, '--password-stdin'], `${PASSWORD}\n`)
    const bob = await peopleOf(node).signIn(BOB)
    const { text: opened } = await bob.get('/')
    const hidden = (name: string) =>
      new RegExp(`name="push\\[${name}\\]" value="([^"]*)"`).exec(opened)?.[1] ?? ''
    const fields = {
      ...{ 'push[kind]': 'text', 'push[payload]': 'typed <before> it hung' },
      ...{ 'push[opened_by]': hidden('opened_by'), 'push[form]': hidden('form') },
    }
    proxy.set('stall')
    const kept = await bob.post('/', fields)
    expect([kept.status, kept.text.includes('typed &lt;before&gt; it hung')]).toEqual([503, true])
    // A repeated form still belongs to the account.
    expect(fields['push[form]']).not.toBe('')
    expect(kept.text.includes(`name="push[form]" value="${fields['push[form]']}"`)).toBe(true)
    const hanging = await ready()
    expect(hanging.status).toBe(503)
    expect(hanging.checks.database).toContain('does not answer')
    expect((await node.ask('/up')).status).toBe(503)
    expect((await node.create({ payload: 'x' })).status).toBe(503)
    proxy.set('pass')
    await waitUntil(async () => (await ready()).status === 200)
    expect((await untilTaken(() => node.create({ payload: 'x' }))).status).toBe(201)
    expect(node.isRunning()).toBe(true)
  })
})
