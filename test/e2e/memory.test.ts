// Memory stays flat under many requests. Coarse: the bench has the figures.

import { afterAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { createStage, type Started } from '../support/binary.ts'

const stage = createStage()
afterAll(stage.clear)

const WARM_UP = 4_000
const REQUESTS = 20_000
const CLIENTS = 32
const MIB = 1024 * 1024

function residentBytes({ pid }: Started): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kib) * 1024
}

/** Half of the requests create and half retrieve, some with larger payloads. */
async function load(server: Started, requests: number): Promise<void> {
  let left = requests / 2
  const client = async () => {
    while (left > 0) {
      left -= 1
      const payload = 'p'.repeat(left % 50 === 0 ? 50_000 : 100)
      const { url_token } = await (await server.create({ payload, expire_after_views: 1 })).json()
      const answer = await (await server.retrieve(url_token)).json()
      if (answer.payload !== payload) throw new Error('another payload came back')
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
}

// Linux tells the resident size of another process in a file.
test.skipIf(process.platform !== 'linux')(
  '20,000 creates and retrieves leave memory flat',
  async () => {
    const server = await stage.start()
    await load(server, WARM_UP)
    const before = residentBytes(server)
    await load(server, REQUESTS)
    const after = residentBytes(server)
    console.log(`resident: ${Math.round(before / MIB)} MiB, then ${Math.round(after / MIB)} MiB`)
    expect(after - before).toBeLessThan(60 * MIB)
    expect(after).toBeLessThan(250 * MIB)
  },
  60_000,
)
