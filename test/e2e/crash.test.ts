// kill -9 under load: no acknowledged change is lost, and no payload is handed out more often than allowed.

import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { createStage, type Started } from '../support/binary.ts'
import { untilTaken, waitUntil } from '../support/waiting.ts'

const stage = createStage()
afterAll(stage.clear)

const VIEWS = 3
/** Milliseconds under load before each kill: in the first commits, between checkpoints, after some. */
const MOMENTS = [40, 120, 260, 500, 900]

/** The clients' knowledge about a push. */
type Known = {
  payload: string
  /** Payloads that arrived. */
  views: number
  /** Retrievals whose response was lost in a kill. Each may or may not have counted as a view. */
  lost: number
  /** Whether a deletion was acknowledged, or its response was lost. */
  deleted: 'no' | 'perhaps' | 'yes'
}

type Answer = { payload: string | null; expired: boolean; views_remaining: number }

const payloadOf = (n: number) => `precious-${n}-${'x'.repeat(n % 7 === 0 ? 20_000 : n % 50)}`

async function retrieve(server: Started, urlToken: string): Promise<Answer> {
  const response = await untilTaken(() => server.retrieve(urlToken))
  const answer = await response.json()
  expect(response.status).toBe(200)
  return answer
}

/** Clients that write, read and delete until the server is killed under them. */
async function loadUntilKilled(
  server: Started,
  { pushes, moment, isEnough }: { pushes: Map<string, Known>; moment: number; isEnough: () => boolean },
) {
  let killed = false
  const recent = () => pick([...pushes].slice(-300))

  const write = async () => {
    const payload = payloadOf(pushes.size)
    const response = await untilTaken(() => server.create({ payload, expire_after_views: VIEWS }))
    const { url_token } = await response.json()
    expect(response.status).toBe(201)
    pushes.set(url_token, { payload, views: 0, lost: 0, deleted: 'no' })
  }

  const read = async () => {
    const [urlToken, push] = recent() ?? []
    if (urlToken === undefined || push === undefined) return Bun.sleep(1)
    push.lost += 1
    const answer = await retrieve(server, urlToken)
    push.lost -= 1
    if (answer.payload === null) return
    expect(answer.payload).toBe(push.payload)
    push.views += 1
  }

  const expire = async () => {
    await Bun.sleep(5)
    const [urlToken, push] = recent() ?? []
    if (urlToken === undefined || push === undefined) return
    if (push.deleted === 'no') push.deleted = 'perhaps'
    const response = await untilTaken(() => server.retrieve(urlToken, { method: 'DELETE' }))
    expect((await response.json()).expired).toBe(true)
    push.deleted = 'yes'
  }

  const keepOn = async (work: () => Promise<void>) => {
    while (!killed) {
      await work().catch((cause) => {
        if (!killed) throw cause
      })
    }
  }
  const clients = [...Array(8).fill(write), ...Array(8).fill(read), expire].map(keepOn)
  await Bun.sleep(moment)
  // Wait, because a busy machine takes longer.
  await waitUntil(isEnough)
  killed = true
  await server.end('SIGKILL')
  await Promise.all(clients)
}

/**
 * Checks that received payloads, remaining views and lost responses add up to the allowed views.
 */
async function expectAccountedFor(server: Started, [urlToken, push]: [string, Known]): Promise<void> {
  let left = 0
  for (;;) {
    const { payload } = await retrieve(server, urlToken)
    if (payload === null) break
    expect(payload).toBe(push.payload)
    left += 1
  }
  const handedOut = push.views + left
  const isExact = push.deleted === 'no'
  const tooMany = handedOut > VIEWS || (push.deleted === 'yes' && left > 0)
  const tooFew = isExact && handedOut + push.lost < VIEWS
  expect({ ...push, left, tooMany, tooFew }).toEqual({ ...push, left, tooMany: false, tooFew: false })
}

test('a killed server loses no acknowledged push, view or deletion', async () => {
  const dataDir = stage.folder()
  const pushes = new Map<string, Known>()
  const hasMany = () => pushes.size > 100
  const wasUsedUp = () => [...pushes.values()].some(({ views }) => views === VIEWS)
  const wasDeleted = () => [...pushes.values()].some(({ deleted }) => deleted === 'yes')
  // The last kill waits until there is enough to compare.
  for (const moment of MOMENTS) {
    const isLast = moment === MOMENTS.at(-1)
    const isEnough = () => !isLast || (hasMany() && wasUsedUp() && wasDeleted())
    const server = await stage.start({ dataDir })
    await loadUntilKilled(server, { pushes, moment, isEnough })
    expectWhole(dataDir)
  }
  const server = await stage.start({ dataDir })
  await sixteenAtOnce([...pushes], (push) => expectAccountedFor(server, push))
  expect(await server.end()).toBe(0)
  expectWhole(dataDir)
})

/** Inspects a copy of the database, so that the killed server's WAL stays unchanged for the next start. */
function expectWhole(dataDir: string): void {
  const copy = stage.folder()
  cpSync(dataDir, copy, { recursive: true })
  const database = new Database(join(copy, 'oncebox.db'))
  expect(database.query('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
  expect(database.query('PRAGMA foreign_key_check').all()).toEqual([])
  database.close()
}

async function sixteenAtOnce<T>(list: T[], work: (item: T) => Promise<void>): Promise<void> {
  const workers = Array.from({ length: 16 }, async () => {
    for (let item = list.pop(); item !== undefined; item = list.pop()) await work(item)
  })
  await Promise.all(workers)
}

function pick<T>(list: T[]): T | undefined {
  return list[Math.floor(Math.random() * list.length)]
}
