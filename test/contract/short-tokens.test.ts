// Short URL tokens, which only imported pushes have, cannot be enumerated: an address may miss 60 times a
// minute.

import { afterEach, expect, test } from 'bun:test'
import { startInstance, type TestInstance } from '../support/instance.ts'

const MISSES = 60
const SHORT = 'k8ft9i41akc-'
const LONG = '0'.repeat(26)

let box: TestInstance

afterEach(() => box.close())

async function miss(paths: (token: string) => string, from: string): Promise<number[]> {
  const statuses: number[] = []
  for (let n = 0; n < MISSES + 2; n += 1) {
    const token = `${SHORT}${String(n).padStart(3, '0')}`
    statuses.push((await box.fetch(paths(token), { from })).status)
  }
  return statuses
}

test.each([
  ['the API', (token: string) => `/api/v2/pushes/${token}`, '192.0.2.1'],
  ['its previews', (token: string) => `/api/v2/pushes/${token}/preview.json`, '192.0.2.1'],
  ['the previous API', (token: string) => `/p/${token}.json`, '192.0.2.1'],
  ['the pages', (token: string) => `/p/${token}`, '192.0.2.1'],
  ['the pages on loopback', (token: string) => `/p/${token}`, '127.0.0.1'],
])('%s answers 60 misses a minute, then refuses', async (_, paths, from) => {
  box = await startInstance()
  const statuses = await miss(paths, from)
  expect(statuses).toEqual([...Array(MISSES).fill(404), 429, 429])
  const refused = await box.fetch(paths(SHORT), { from })
  expect(Number(refused.headers.get('retry-after'))).toBeWithin(1, 61)
  expect((await box.fetch(paths(LONG), { from })).status).toBe(404)
  expect((await box.fetch(paths(SHORT), { from: '198.51.100.7' })).status).toBe(404)
  box.clock.advance(60_000)
  expect((await box.fetch(paths(SHORT), { from })).status).toBe(404)
})

test('concurrent requests get no more misses', async () => {
  box = await startInstance()
  const tokens = Array.from({ length: 200 }, (_, n) => `${SHORT}${String(n).padStart(3, '0')}`)
  const answers = await Promise.all(
    tokens.map((token) => box.fetch(`/api/v2/pushes/${token}`, { from: '127.0.0.1' })),
  )
  const missed = answers.filter(({ status }) => status === 404)
  expect(missed).toHaveLength(MISSES)
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(200 - MISSES)
})
