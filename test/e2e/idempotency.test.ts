// Idempotency keys across kill -9, and what the data folder stores of them.

import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { createStage, type Started } from '../support/binary.ts'
import { findNeedles, readFolder } from '../support/needles.ts'
import { untilTaken, waitUntil } from '../support/waiting.ts'

const stage = createStage()
afterAll(stage.clear)

/** Time under load before each kill, in milliseconds. */
const MOMENTS = [30, 90, 200, 400]

type Body = { url_token: string }

const create = async (server: Started, key: string, payload = key): Promise<Body> => {
  const response = await untilTaken(() => server.create({ payload }, { 'idempotency-key': key }))
  const body = await response.json()
  expect({ status: response.status, body }).toEqual({ status: 201, body })
  return body
}

function query<T>(server: Started, sql: string): T[] {
  const database = new Database(join(server.dataDir, 'oncebox.db'), { readonly: true })
  try {
    return database.query<T, []>(sql).all()
  } finally {
    database.close()
  }
}

test('with retries after kills, each key creates exactly one push', async () => {
  const dataDir = stage.folder()
  const told = new Map<string, string | null>()
  const answered = () => [...told.values()].filter((urlToken) => urlToken !== null)
  for (const moment of MOMENTS) {
    const server = await stage.start({ dataDir })
    let killed = false
    const client = async () => {
      while (!killed) {
        const key = randomUUID()
        told.set(key, null)
        await create(server, key).then(
          ({ url_token }) => told.set(key, url_token),
          (cause) => {
            if (!killed) throw cause
          },
        )
      }
    }
    const clients = Array.from({ length: 16 }, client)
    await Bun.sleep(moment)
    // The last kill waits until there is enough to compare.
    if (moment === MOMENTS.at(-1)) await waitUntil(() => answered().length > 50)
    killed = true
    await server.end('SIGKILL')
    await Promise.all(clients)
  }
  const server = await stage.start({ dataDir })
  expect(answered().length).toBeLessThan(told.size)
  expect(answered().length).toBeGreaterThan(50)
  for (const [key, urlToken] of told) {
    // One of two concurrent creates may be refused because the other still runs.
    const both = await Promise.allSettled([create(server, key), create(server, key)])
    const made = both.flatMap((each) => (each.status === 'fulfilled' ? each.value.url_token : []))
    expect(both).toContainEqual(expect.objectContaining({ status: 'fulfilled' }))
    expect(new Set(made).add(urlToken ?? made[0] ?? '').size).toBe(1)
  }
  expect(query<{ n: number }>(server, 'SELECT count(*) AS n FROM pushes')).toEqual([{ n: told.size }])
})

test('neither keys nor links are in the data folder, and stored answers are removed with their pushes', async () => {
  const server = await stage.start()
  const keys = Array.from({ length: 300 }, () => randomUUID())
  const tokens: string[] = []
  for (const key of keys) tokens.push((await create(server, key)).url_token)
  const sealed = query<{ answer: Uint8Array }>(server, 'SELECT answer FROM idempotency_answers')
  expect(sealed).toHaveLength(keys.length)
  const plain = [...keys, ...tokens].map((text) => ({ name: text, bytes: Buffer.from(text) }))
  expect(findNeedles(readFolder(server.dataDir), plain)).toEqual([])
  const answers = sealed.map(({ answer }, index) => ({ name: `answer ${index}`, bytes: answer.slice(14) }))
  const found = () => new Set(findNeedles(readFolder(server.dataDir), answers).map(({ name }) => name))
  // A checkpoint between the reads of WAL and database hides bytes from both: search again.
  await waitUntil(() => found().size === keys.length)

  const isDoomed = (index: number) => index % 7 < 5
  for (const [index, urlToken] of tokens.entries())
    if (isDoomed(index)) await untilTaken(() => server.retrieve(urlToken, { method: 'DELETE' }))
  const doomed = answers.filter((_, index) => isDoomed(index))
  await waitUntil(() => findNeedles(readFolder(server.dataDir), doomed).length === 0, 300)
  // The other keys still replay their answers.
  expect((await create(server, keys[5]!)).url_token).toBe(tokens[5]!)
})
