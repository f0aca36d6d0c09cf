// kill -9 under load: what was acknowledged is there, and no payload is handed out more often than allowed.

import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { makeFolder, removeFolder, startBinary } from '../support/binary.ts'

const dataDir = makeFolder()
afterAll(() => removeFolder(dataDir))

const VIEWS = 3
const ROUNDS = 4

test('a killed server loses no acknowledged push and gives no payload too often', async () => {
  const handedOut = new Map<string, number>()
  for (let round = 0; round < ROUNDS; round += 1) {
    const server = await startBinary({ dataDir })
    const before = [...handedOut.keys()]
    await Promise.all(before.map((urlToken) => expectKnown(server, urlToken)))
    let stopped = false
    const until = async (work: () => Promise<void>) => {
      while (!stopped) await work().catch(() => undefined)
    }
    const writers = Array.from({ length: 8 }, () =>
      until(async () => {
        const response = await server.create({ payload: 'precious', expire_after_views: VIEWS })
        const { url_token } = await response.json()
        if (response.status === 201) handedOut.set(url_token, 0)
      }),
    )
    const readers = Array.from({ length: 8 }, () =>
      until(async () => {
        const urlToken = pick([...handedOut.keys()])
        if (urlToken === undefined) return void (await Bun.sleep(1))
        const { payload } = await (await server.retrieve(urlToken)).json()
        if (payload === 'precious') handedOut.set(urlToken, (handedOut.get(urlToken) ?? 0) + 1)
      }),
    )
    await Bun.sleep(150 + round * 170)
    await server.end('SIGKILL')
    stopped = true
    await Promise.all([...writers, ...readers])
  }
  expect(handedOut.size).toBeGreaterThan(50)
  const server = await startBinary({ dataDir })
  for (const [urlToken, times] of handedOut) await expectNoMoreThanAllowed(server, urlToken, times)
  await server.end()
  const database = new Database(join(dataDir, 'oncebox.db'))
  expect(database.query('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
  expect(database.query('PRAGMA foreign_key_check').all()).toEqual([])
  database.close()
})

type Server = Awaited<ReturnType<typeof startBinary>>

async function expectKnown(server: Server, urlToken: string): Promise<void> {
  expect((await fetch(`${server.url}/api/v2/pushes/${urlToken}/preview`)).status).toBe(200)
}

async function expectNoMoreThanAllowed(server: Server, urlToken: string, times: number): Promise<void> {
  let total = times
  for (let i = 0; i <= VIEWS; i += 1) {
    const { payload } = await (await server.retrieve(urlToken)).json()
    if (payload === 'precious') total += 1
  }
  expect(total).toBeLessThanOrEqual(VIEWS)
}

function pick<T>(list: T[]): T | undefined {
  return list[Math.floor(Math.random() * list.length)]
}
