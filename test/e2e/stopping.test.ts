// Stopping: requests under way may finish, nothing is left behind, and nobody idle holds it up.

import { afterEach, expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createStage, type Started } from '../support/binary.ts'
import { sendRaw } from '../support/raw.ts'
import { untilTaken, waitUntil } from '../support/waiting.ts'

const stage = createStage()
afterEach(stage.clear)

/** A create whose body ends when the test says so. */
function slowCreate(server: Started, payload: string) {
  const { promise: rest, resolve: sendRest } = Promise.withResolvers<void>()
  const body = new ReadableStream({
    async start(controller) {
      controller.enqueue(new TextEncoder().encode('{"push":{"payload":'))
      await rest
      controller.enqueue(new TextEncoder().encode(`${JSON.stringify(payload)}}}`))
      controller.close()
    },
  })
  const headers = { 'content-type': 'application/json' }
  const answer = server.ask('/api/v2/pushes', { method: 'POST', headers, body })
  // Whoever looks at the answer sees that it was cut off; nobody has to.
  answer.catch(() => undefined)
  return { answer, sendRest }
}

/** A request has arrived long before; nothing tells when. */
const ARRIVED_MS = 1_000

const untilItStops = (server: Started) => waitUntil(() => server.stderr().includes('stopping'))

function expectNothingLeft({ dataDir }: Started): void {
  const left = readdirSync(dataDir).filter((name) => /-wal$|-shm$|-journal$|holder$/.test(name))
  expect(left).toEqual([])
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s lets a running request finish, empties the log and exits 0',
  async (signal) => {
    const server = await stage.start()
    const running = slowCreate(server, 'slow but kept')
    await Bun.sleep(ARRIVED_MS)
    const exit = server.end(signal)
    await untilItStops(server)
    expect(server.isRunning()).toBe(true)
    running.sendRest()
    const response = await running.answer
    expect(response.status).toBe(201)
    const { url_token } = await response.json()
    expect(await exit).toBe(0)
    expectNothingLeft(server)
    const next = await stage.start({ dataDir: server.dataDir })
    expect((await (await next.retrieve(url_token)).json()).payload).toBe('slow but kept')
  },
)

test('no connection is accepted once it stops', async () => {
  const server = await stage.start()
  const running = slowCreate(server, 'x')
  await Bun.sleep(ARRIVED_MS)
  const exit = server.end()
  await untilItStops(server)
  await waitUntil(() =>
    server.ask('/up', { keepalive: false }).then(
      () => false,
      () => true,
    ),
  )
  expect(server.isRunning()).toBe(true)
  running.sendRest()
  await running.answer
  expect(await exit).toBe(0)
})

test('idle connections and half a request line do not hold up the end', async () => {
  const server = await stage.start()
  for (let i = 0; i < 3; i += 1) await (await server.ask('/up')).text()
  const silent = connect({ host: '127.0.0.1', port: server.port }).on('error', () => undefined)
  const idle = sendRaw(server.port, ['GET /up HTTP/1.1\r\nHost: localhost\r\n\r\n'], 10_000)
  await Bun.sleep(200)
  const startedAt = performance.now()
  expect(await server.end()).toBe(0)
  // A request may take ten seconds to its end.
  expect(performance.now() - startedAt).toBeLessThan(9_000)
  expect((await idle).closed).toBe(true)
  silent.destroy()
})

test('a request that never ends is cut off after a while', async () => {
  const server = await stage.start()
  const running = slowCreate(server, 'never')
  await Bun.sleep(ARRIVED_MS)
  const startedAt = performance.now()
  expect(await server.end()).toBe(0)
  expect(performance.now() - startedAt).toBeLessThan(60_000)
  expect(running.answer).rejects.toThrow()
  expectNothingLeft(server)
  const next = await stage.start({ dataDir: server.dataDir })
  expect((await next.ask('/up')).status).toBe(200)
})

test('what was acknowledged while it stopped under load is there afterwards', async () => {
  const server = await stage.start()
  const acknowledged: string[] = []
  let stopped = false
  const writers = Array.from({ length: 16 }, async () => {
    while (!stopped) {
      const response = await server.create({ payload: 'kept' }).catch(() => null)
      if (response === null) return
      const body = await response.json().catch(() => null)
      expect([201, 503]).toContain(response.status)
      if (response.status === 201 && body !== null) acknowledged.push(body.url_token)
    }
  })
  await waitUntil(() => acknowledged.length > 20)
  const exit = await server.end()
  stopped = true
  await Promise.all(writers)
  expect(exit).toBe(0)
  expect(server.stderr()).not.toMatch(/ (error|fatal) /)
  expectNothingLeft(server)
  const next = await stage.start({ dataDir: server.dataDir })
  for (const urlToken of acknowledged) {
    const response = await untilTaken(() => next.retrieve(urlToken))
    expect((await response.json()).payload).toBe('kept')
  }
  expect(acknowledged.length).toBeGreaterThan(20)
})

test('a second signal ends it at once', async () => {
  const server = await stage.start()
  slowCreate(server, 'x')
  await Bun.sleep(ARRIVED_MS)
  const first = server.end()
  await untilItStops(server)
  const startedAt = performance.now()
  expect(await server.end()).toBe(130)
  expect(await first).toBe(130)
  expect(performance.now() - startedAt).toBeLessThan(9_000)
})

test('a reader of the log that goes away does not end the server', async () => {
  const server = await stage.start()
  expect(existsSync(join(server.dataDir, 'serve.holder'))).toBe(true)
  await server.closeOutputs()
  for (let i = 0; i < 50; i += 1) expect((await server.create({ payload: 'x' })).status).toBe(201)
  expect(await server.end()).toBe(0)
})
