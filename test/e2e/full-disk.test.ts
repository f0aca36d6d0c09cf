// A full disk: no acknowledged change is lost, no payload is handed out uncounted, and the server keeps
// running.

import { Database } from 'bun:sqlite'
import { afterEach, expect, test } from 'bun:test'
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createStage, type Started } from '../support/binary.ts'
import { needs } from '../support/needs.ts'
import { mountSmallDisk } from '../support/tmpfs.ts'
import { untilTaken, waitUntil } from '../support/waiting.ts'

const stage = createStage()
const disks: { remove(): void }[] = []

afterEach(async () => {
  await stage.clear()
  for (const disk of disks.splice(0)) disk.remove()
})

const VIEWS = 3
const PAYLOAD = 'p'.repeat(6_000)
const MIB = 1024 * 1024

/** The acknowledged facts about a push. */
type Known = { views: number; deleted: boolean }

/** Checks answers of a server with a full disk: success, or 507 without a change. */
async function answerOf(response: Response): Promise<{ status: number; body: Record<string, unknown> }> {
  const body = await response.json()
  const { status } = response
  if (status === 507) expect(Object.keys(body)).toEqual(['error'])
  else if (status !== 200 && status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
  return { status, body }
}

function createClient(server: Started, pushes: Map<string, Known>) {
  async function create(): Promise<number> {
    const { status, body } = await answerOf(
      await untilTaken(() => server.create({ payload: PAYLOAD, expire_after_views: VIEWS })),
    )
    if (status === 201) pushes.set(String(body.url_token), { views: 0, deleted: false })
    return status
  }

  async function retrieve([urlToken, push]: [string, Known]): Promise<number> {
    const { status, body } = await answerOf(await untilTaken(() => server.retrieve(urlToken)))
    if (status === 507) return status
    expect(body.payload).toBeOneOf([PAYLOAD, null])
    if (body.payload !== null) push.views += 1
    return status
  }

  async function expire([urlToken, push]: [string, Known]): Promise<number> {
    const { status } = await answerOf(await untilTaken(() => server.retrieve(urlToken, { method: 'DELETE' })))
    if (status === 200) push.deleted = true
    return status
  }

  return { create, retrieve, expire }
}

type Client = ReturnType<typeof createClient>

/** Creates in parallel until the disk has refused often, while other clients read and delete. */
async function fillDisk({ create, retrieve, expire }: Client, pushes: Map<string, Known>): Promise<void> {
  let refused = 0
  const isFull = () => refused >= 60
  const writer = async () => {
    while (!isFull()) if ((await create()) === 507) refused += 1
  }
  const visitor = (visit: (push: [string, Known]) => Promise<number>, pauseMs: number) => async () => {
    while (!isFull()) {
      const push = [...pushes][Math.floor(Math.random() * pushes.size)]
      await (push === undefined ? Bun.sleep(1) : visit(push))
      await Bun.sleep(pauseMs)
    }
  }
  const clients = [...Array(6).fill(writer), ...Array(2).fill(visitor(retrieve, 1)), visitor(expire, 20)]
  await Promise.all(clients.map((client) => client()))
}

/** Retries while the disk is full: sometimes a checkpoint must free space first. */
async function withPatience(ask: () => Promise<number>): Promise<number> {
  const deadline = performance.now() + 60_000
  for (;;) {
    const status = await ask()
    if (status !== 507 || performance.now() > deadline) return status
    await Bun.sleep(100)
  }
}

needs('mount').describe('on a small disk', () => {
  test('a full disk refuses, loses nothing and recovers', async () => {
    const disk = mountSmallDisk('40m')
    disks.push(disk)
    const filler = join(disk.path, 'filler')
    // As large as the WAL may grow: a checkpoint needs that much space in the database first.
    writeFileSync(filler, Buffer.alloc(12 * MIB))
    const server = await stage.start({ dataDir: join(disk.path, 'data') })
    const pushes = new Map<string, Known>()
    const client = createClient(server, pushes)
    await fillDisk(client, pushes)
    expect(pushes.size).toBeGreaterThan(20)

    // Full: the server is alive and answers every request with success or 507.
    expect((await server.ask('/up')).status).toBe(200)
    for (const push of [...pushes].slice(0, 30)) await client.retrieve(push)
    for (const push of [...pushes].slice(30, 40)) await client.expire(push)

    // There is space again: from here on everything works.
    rmSync(filler)
    expect(await withPatience(client.create)).toBe(201)
    await Bun.sleep(500)
    await eightAtOnce([...pushes], (push) => expectAccountedFor(client, push))
    expect(server.isRunning()).toBe(true)
    expect(server.stderr()).not.toMatch(/ fatal | 500 /)
    const made = pushes.size
    expect(await server.end()).toBe(0)

    const database = new Database(join(server.dataDir, 'oncebox.db'))
    expect(database.query('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    expect(database.query('SELECT count(*) AS made FROM pushes').get()).toEqual({ made })
    database.close()
  })
})

needs('mount', 'dd').describe('on a disk that other programs fill', () => {
  test('retrieving, deleting and expiring use the reserved space; creating works again once there is space', async () => {
    const disk = mountSmallDisk('160m')
    disks.push(disk)
    const server = await stage.start({ dataDir: join(disk.path, 'data') })
    const pushes = new Map<string, Known>()
    const client = createClient(server, pushes)
    for (let n = 0; n < 400; n += 1) expect(await client.create()).toBe(201)
    const reserve = join(server.dataDir, 'reserve')
    await waitUntil(() => statSync(reserve, { throwIfNoEntry: false })?.size === 16 * MIB)

    const filler = join(disk.path, 'filler')
    Bun.spawnSync(['dd', 'if=/dev/zero', `of=${filler}`, 'bs=64k'], { stderr: 'ignore' })
    const statuses = await Promise.all(Array.from({ length: 50 }, client.create))
    for (let n = 0; n < 200 && statuses.at(-1) !== 507; n += 1) statuses.push(await client.create())
    expect(statuses.at(-1)).toBe(507)
    expect(statSync(reserve).size).toBe(0)

    const ready = async () => (await server.ask('/readyz')).status
    const entries = [...pushes].slice(0, 300)
    for (const entry of entries) expect(await client.retrieve(entry)).toBe(200)
    for (const entry of entries.slice(0, 60)) expect(await client.expire(entry)).toBe(200)
    expect([await client.create(), await ready()]).toEqual([507, 503])

    rmSync(filler)
    await waitUntil(async () => (await ready()) === 200)
    expect(await withPatience(client.create)).toBe(201)
    await eightAtOnce(entries, (entry) => expectAccountedFor(client, entry))
    await waitUntil(() => statSync(reserve, { throwIfNoEntry: false })?.size === 16 * MIB)
    expect(server.stderr()).not.toMatch(/ fatal | 500 /)
  })
})

needs('mount').test(
  'a server starts on a full disk, in the reserved space, and one without it names the file',
  async () => {
    const disk = mountSmallDisk('64m')
    disks.push(disk)
    const dataDir = join(disk.path, 'data')
    const first = await stage.start({ dataDir })
    const made = await (await first.create({ payload: 'kept' })).json()
    await waitUntil(() => statSync(join(dataDir, 'reserve'), { throwIfNoEntry: false })?.size === 16 * MIB)
    await first.end('SIGKILL')
    const fill = (name: string) =>
      Bun.spawnSync(['dd', 'if=/dev/zero', `of=${join(disk.path, name)}`, 'bs=4k'], { stderr: 'ignore' })
    fill('filler')
    const second = await stage.start({ dataDir })
    expect((await (await second.retrieve(made.url_token)).json()).payload).toBe('kept')
    const health = await fetch(`http://localhost:${second.port}/readyz`)
    expect([health.status, (await health.json()).checks.disk]).toEqual([
      503,
      expect.stringContaining(dataDir),
    ])
    expect((await second.create({ payload: 'x' })).status).toBe(507)
    await second.end()
    fill('filler2')
    const refused = await stage.serve(dataDir)
    expect(refused.stderr).toContain(`Cannot write ${join(dataDir, 'serve.holder')}: its disk has no room`)
  },
)

needs('mount').test('the largest log entries for other pushes leave room to read a push', async () => {
  const disk = mountSmallDisk('64m')
  disks.push(disk)
  const server = await stage.start({ dataDir: join(disk.path, 'data') })
  const mine = await (await server.create({ payload: 'mine' })).json()
  const hosts = [`${'a'.repeat(62)}.`.repeat(4), 'a'.repeat(7_000)]
  for (let push = 0; push < 6; push += 1) {
    const { url_token } = await (await server.create({ payload: 'x', expire_after_views: 1 })).json()
    const visits = Array.from({ length: 1_000 }, (_, n) => n)
    await eightAtOnce(visits, async (n) => {
      const headers = { 'user-agent': 'é'.repeat(7_000), referer: `https://${hosts[n % 2]}/` }
      const response = await untilTaken(() => server.retrieve(url_token, { headers }))
      expect(response.status).toBe(200)
      await response.arrayBuffer()
    })
  }
  expect((await (await server.retrieve(mine.url_token)).json()).payload).toBe('mine')
  await server.end()
  expect(statSync(join(server.dataDir, 'oncebox.db')).size).toBeLessThan(MIB)
})

/** Runs thousands of requests, a few at a time. */
async function eightAtOnce<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items]
  const worker = async () => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item)
  }
  await Promise.all(Array.from({ length: 8 }, worker))
}

/**
 * Checks that every remaining view can be used, unless the push was deleted: views refused with 507 were not
 * counted.
 */
async function expectAccountedFor(client: Client, entry: [string, Known]): Promise<void> {
  const [, push] = entry
  const before = push.views
  const expected = push.deleted ? before : VIEWS
  for (let tries = before; tries <= VIEWS; tries += 1) {
    expect(await withPatience(() => client.retrieve(entry))).toBe(200)
  }
  expect(push.views).toBe(expected)
}

test('below --min-free-space, creating is refused and everything else works', async () => {
  const first = await stage.start()
  const made = Array.from({ length: 3 }, async () => (await first.create({ payload: 'x' })).json())
  const [retrieved, deleted, guarded] = await Promise.all(made)
  await first.end()
  const server = await stage.start({ dataDir: first.dataDir, flags: ['--min-free-space', '1024TiB'] })
  const refused = await server.create({ payload: 'x' })
  expect(refused.status).toBe(507)
  expect((await refused.json()).error).toContain('--min-free-space')
  expect((await (await server.retrieve(retrieved.url_token)).json()).payload).toBe('x')
  expect((await server.retrieve(deleted.url_token, { method: 'DELETE' })).status).toBe(200)
  expect((await server.ask(`/api/v2/pushes/${guarded.url_token}/preview`)).status).toBe(200)
  expect((await server.command(['user', 'list'])).code).toBe(0)
})
