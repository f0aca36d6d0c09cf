// Stopping: running requests may finish, nothing is left behind, and idle clients do not delay the stop.

import { afterEach, expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { keepAsking } from '../support/asking-client.ts'
import { createStage, type Started } from '../support/binary.ts'
import { startStopwatch } from '../support/effort.ts'
import { sendRaw } from '../support/raw.ts'
import { untilTaken, waitUntil } from '../support/waiting.ts'

const stage = createStage()
afterEach(stage.clear)

/** Sends a create whose body the test completes later. */
async function slowCreate({ port }: Started, payload: string) {
  const body = JSON.stringify({ push: { payload } })
  let text = ''
  let closed = false
  const socket = connect({ host: '127.0.0.1', port })
    .setEncoding('utf8')
    .on('data', (piece) => {
      text += piece
    })
    .on('error', () => undefined)
    .on('close', () => {
      closed = true
    })
  const headers = ['Host: localhost', 'Content-Type: application/json', 'Expect: 100-continue']
  socket.write(
    `POST /api/v2/pushes HTTP/1.1\r\n${headers.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n`,
  )
  // The server sends 100 when it has begun the request and wants its body.
  await waitUntil(() => text.includes(' 100 '))
  socket.write(body.slice(0, 10))

  /** Resolves to null when the connection ends without a response. */
  async function answer(): Promise<{ status: number; body: string } | null> {
    const whole = () => /HTTP\/1\.1 ([2-5]\d\d)[\s\S]*?\r\n\r\n(\{.*\})$/.exec(text)
    await waitUntil(() => closed || whole() !== null)
    const [, status, said = ''] = whole() ?? []
    return status === undefined ? null : { status: Number(status), body: said }
  }

  return { answer, sendRest: () => socket.write(body.slice(10)) }
}

const untilItStops = (server: Started) => server.untilLogged('stopping')

function expectNothingLeft({ dataDir }: Started): void {
  const left = readdirSync(dataDir).filter((name) => /-wal$|-shm$|-journal$|holder$/.test(name))
  expect(left).toEqual([])
}

test.each(['SIGTERM', 'SIGINT', 'SIGQUIT'] as const)(
  '%s lets a running request finish, empties the log and exits 0',
  async (signal) => {
    const server = await stage.start()
    const running = await slowCreate(server, 'slow but kept')
    const exit = server.end(signal)
    await untilItStops(server)
    expect(server.isRunning()).toBe(true)
    running.sendRest()
    const answer = await running.answer()
    expect(answer?.status).toBe(201)
    const { url_token } = JSON.parse(answer?.body ?? '')
    expect(await exit).toBe(0)
    expectNothingLeft(server)
    const next = await stage.start({ dataDir: server.dataDir })
    expect((await (await next.retrieve(url_token)).json()).payload).toBe('slow but kept')
  },
)

test('a stopping server accepts no connection', async () => {
  const server = await stage.start()
  const running = await slowCreate(server, 'x')
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
  expect((await running.answer())?.status).toBe(201)
  expect(await exit).toBe(0)
})

test('clients that ask continuously lose no request: each is answered, or its connection refused', async () => {
  const { port, end } = await stage.start()
  const asking = { port, path: '/up', end: '{"up":true}' }
  const loads = Array.from({ length: 8 }, () => keepAsking(asking))
  await Bun.sleep(300)
  expect(await end()).toBe(0)
  for (const { ending, lost } of await Promise.all(loads)) expect([ending, lost]).toEqual([1, 0])
})

test('idle connections and partial requests do not delay the stop; an endless request does, until a deadline', async () => {
  const server = await stage.start()
  for (let i = 0; i < 3; i += 1) await (await server.ask('/up')).text()
  const silent = connect({ host: '127.0.0.1', port: server.port }).on('error', () => undefined)
  await new Promise<void>((resolve) => silent.once('connect', resolve))
  silent.write('GET /u')
  let answered = false
  const until = ({ statuses }: { statuses: number[] }) => {
    answered = statuses.length > 0
    return false
  }
  const idle = sendRaw(server.port, ['GET /up HTTP/1.1\r\nHost: localhost\r\n\r\n'], { until })
  await waitUntil(() => answered)
  const other = await stage.start()
  const running = await slowCreate(other, 'never')
  const stop = startStopwatch()
  // If the stop were delayed, this would end as late as the other one.
  const ended: [string, number][] = []
  await Promise.all([
    other.end().then((code) => ended.push(['with a request', code])),
    server.end().then((code) => ended.push(['without', code])),
  ])
  expect(ended).toEqual([
    ['without', 0],
    ['with a request', 0],
  ])
  expect(stop()).toBeLessThan(60_000)
  expect((await idle).closed).toBe(true)
  silent.destroy()
  expect(await running.answer()).toBeNull()
  for (const one of [server, other]) expectNothingLeft(one)
  const next = await stage.start({ dataDir: other.dataDir })
  expect((await next.ask('/up')).status).toBe(200)
})

test('changes acknowledged while the server stopped under load are kept', async () => {
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

test('a second signal ends the server at once', async () => {
  const server = await stage.start()
  await slowCreate(server, 'x')
  const first = server.end()
  await untilItStops(server)
  // Otherwise the request would delay the stop, and the exit code would be 0.
  expect(await server.end()).toBe(130)
  expect(await first).toBe(130)
})

test('the server survives when the reader of its log closes the pipe', async () => {
  const server = await stage.start()
  expect(existsSync(join(server.dataDir, 'serve.holder'))).toBe(true)
  await server.closeOutputs()
  for (let i = 0; i < 50; i += 1)
    expect((await untilTaken(() => server.create({ payload: 'x' }))).status).toBe(201)
  expect(await server.end()).toBe(0)
})
