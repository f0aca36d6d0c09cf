// A disk that is full: nothing acknowledged is lost, nothing is handed out uncounted, and the server goes on.

import { afterEach, expect, test } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, removeFolder, type Started, startBinary } from '../support/binary.ts'

const mount = makeFolder()
const isMounted = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=40m', 'tmpfs', mount]).exitCode === 0
let server: Started | undefined

afterEach(async () => {
  await server?.end('SIGKILL')
  if (isMounted) Bun.spawnSync(['umount', '-l', mount])
  removeFolder(mount)
})

// Mounting needs root, which continuous integration has.
test.skipIf(!isMounted && process.env.CI !== 'true')(
  'a full disk refuses, loses nothing and recovers',
  async () => {
    expect(isMounted).toBe(true)
    const filler = join(mount, 'filler')
    const dataDir = join(mount, 'data')
    writeFileSync(filler, Buffer.alloc(16 * 1024 * 1024))
    server = await startBinary({ dataDir })
    const started = server
    const acknowledged: string[] = []
    let refused = 0
    while (refused < 20) {
      const batch = await Promise.all(
        Array.from({ length: 8 }, () =>
          started.create({ payload: 'p'.repeat(50_000), expire_after_views: 2 }),
        ),
      )
      for (const response of batch) {
        const body = await response.json()
        if (response.status === 201) acknowledged.push(body.url_token)
        else {
          expect({ status: response.status, body }).toMatchObject({ status: 507 })
          refused += 1
        }
      }
    }
    expect(acknowledged.length).toBeGreaterThan(10)
    for (const urlToken of acknowledged.slice(0, 20)) {
      const response = await server.retrieve(urlToken)
      expect([200, 507]).toContain(response.status)
      if (response.status === 507) expect((await response.json()).payload).toBeUndefined()
    }
    rmSync(filler)
    expect((await server.create({ payload: 'again' })).status).toBe(201)
    for (const urlToken of acknowledged) {
      const response = await retrieveWithPatience(server, urlToken)
      expect((await response.json()).payload).toHaveLength(50_000)
    }
  },
)

/** The disk is small: now and then the log has to be emptied before there is room for another view. */
async function retrieveWithPatience(server: Started, urlToken: string): Promise<Response> {
  for (let tries = 0; tries < 20; tries += 1) {
    const response = await server.retrieve(urlToken)
    if (response.status === 200) return response
    expect(response.status).toBe(507)
    await Bun.sleep(200)
  }
  throw new Error('the server does not recover from a full disk')
}
