// Side channels: response times reveal no secrets, and compressed request bodies are not decompressed.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Api, PUSHES, startApi } from '../support/api.ts'

let api: Api
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.close())

const ROUNDS = 400
const UNKNOWN = '0123456789abcdefghjkmnpqrs'

const median = (times: number[]) =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN

/**
 * Returns the median time of each request in microseconds. Alternates between them, so that a slow moment
 * affects all of them.
 */
async function time(asks: Record<string, () => Promise<unknown>>): Promise<Record<string, number>> {
  const times = new Map(Object.keys(asks).map((name) => [name, [] as number[]]))
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, ask] of Object.entries(asks)) {
      const started = performance.now()
      await ask()
      times.get(name)?.push((performance.now() - started) * 1000)
    }
  }
  return Object.fromEntries([...times].map(([name, all]) => [name, median(all)]))
}

const page = async (urlToken: string) => (await api.fetch(`/p/${urlToken}`, { from: '127.0.0.1' })).text()

test('the page of an expired link takes as long as that of an unknown link', async () => {
  const { url_token } = await api.create()
  await api.expire(url_token)
  const figures = await time({ expired: () => page(url_token), unknown: () => page(UNKNOWN) })
  console.log(`microseconds of a page: ${JSON.stringify(figures)}`)
  const [expired = 0, unknown = 0] = Object.values(figures)
  expect(Math.max(expired, unknown) / Math.min(expired, unknown)).toBeLessThan(2)
})

test('a wrong token is refused equally fast whether or not its prefix is right', async () => {
  const token = await api.addAccount('ann@example.org')
  const ask = (given: string) => async () =>
    (await api.fetch(`${PUSHES}/active`, { token: given, from: '127.0.0.1' })).text()
  const figures = await time({ near: ask(`${token.slice(0, -1)}_`), far: ask(`obx_${'0'.repeat(32)}`) })
  console.log(`microseconds of a wrong token: ${JSON.stringify(figures)}`)
  const [near = 0, far = 0] = Object.values(figures)
  expect(Math.max(near, far) / Math.min(near, far)).toBeLessThan(2)
})

test('a compressed request body is not decompressed', async () => {
  const bomb = Bun.gzipSync(Buffer.from(JSON.stringify({ push: { payload: 'x'.repeat(50_000_000) } })))
  const before = process.memoryUsage.rss()
  for (const encoding of ['gzip', 'deflate', 'br', 'zstd', 'gzip, gzip']) {
    const headers = { 'content-type': 'application/json', 'content-encoding': encoding }
    const { status } = await api.call(PUSHES, { body: bomb, headers, from: '127.0.0.1' })
    expect({ encoding, status }).toEqual({ encoding, status: 400 })
  }
  expect((process.memoryUsage.rss() - before) / 1024 / 1024).toBeLessThan(60)
})
