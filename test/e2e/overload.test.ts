// Overload: the server sheds load, serves accepted requests quickly, and recovers completely.

import { afterAll, expect, test } from 'bun:test'
import { createStage, type Started } from '../support/binary.ts'
import { workedMsOf } from '../support/effort.ts'
import { untilTaken, waitUntil } from '../support/waiting.ts'

const stage = createStage()
afterAll(stage.clear)

const BODY = JSON.stringify({
  push: { payload: 'correct horse battery staple 012', expire_after_views: 100 },
})
const MIB = 1024 * 1024

type Tally = { accepted: number[]; shed: number; withRetryAfter: number; others: string[]; broken: number }

type Hammering = { connections: number; ms: number; atOnce?: boolean }

/**
 * Opens connections that each send one create after another, ignoring Retry-After. `atOnce`: the first
 * creates of all connections reach the server together, however slowly this process sends them.
 */
async function hammer(server: Started, { connections, ms, atOnce = false }: Hammering): Promise<Tally> {
  const tally: Tally = { accepted: [], shed: 0, withRetryAfter: 0, others: [], broken: 0 }
  const head = [
    'POST /api/v2/pushes HTTP/1.1',
    `Host: 127.0.0.1:${server.port}`,
    'Content-Type: application/json',
    `Content-Length: ${BODY.length}`,
  ]
  const request = `${head.join('\r\n')}\r\n\r\n${BODY}`
  let begins = 0
  let ends = Number.POSITIVE_INFINITY
  const connect = async () => {
    const { promise: over, resolve: end } = Promise.withResolvers<void>()
    let sentAt = 0
    let answer = ''
    const send = (socket: Bun.Socket) => {
      if (performance.now() > ends) {
        socket.end()
        return
      }
      answer = ''
      sentAt = performance.now()
      socket.write(request)
    }
    const socket = await Bun.connect({
      hostname: '127.0.0.1',
      port: server.port,
      socket: {
        data: (socket, bytes) => {
          answer += bytes.toString('latin1')
          const split = answer.indexOf('\r\n\r\n')
          const length = Number(/content-length: (\d+)/i.exec(answer)?.[1])
          if (split < 0 || answer.length < split + 4 + length) return
          count(answer, performance.now() - Math.max(sentAt, begins))
          send(socket)
        },
        close: () => end(),
        error: () => {
          tally.broken += 1
          end()
        },
      },
    }).catch(() => {
      tally.broken += 1
      end()
    })
    const begin = () => {
      if (socket !== undefined) send(socket)
    }
    return { begin, over }
  }
  const count = (text: string, time: number) => {
    const status = text.slice(9, 12)
    if (status === '201') tally.accepted.push(time)
    else if (status === '503') {
      tally.shed += 1
      if (/\r\nretry-after: [1-9]\d?\r\n/i.test(text)) tally.withRetryAfter += 1
    } else tally.others.push(text.slice(0, 60))
  }
  // Opening all of them takes long on a busy machine, so measure from here on.
  const connected = await Promise.all(Array.from({ length: connections }, connect))
  if (atOnce) process.kill(server.pid, 'SIGSTOP')
  for (const { begin } of connected) begin()
  if (atOnce) process.kill(server.pid, 'SIGCONT')
  begins = performance.now()
  ends = begins + ms
  await Promise.all(connected.map(({ over }) => over))
  return tally
}

const p99 = (times: number[]) =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN

const residentMib = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(require('node:fs').readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

test('under overload, many clients get 503 and the others are served quickly', async () => {
  const server = await stage.start()
  const calm = await hammer(server, { connections: 64, ms: 2000 })
  expect(calm).toMatchObject({ shed: 0, others: [], broken: 0 })

  // Retry, because other processes of the machine may slow one request down.
  await waitUntil(async () => {
    const storm = await hammer(server, { connections: 6000, ms: 3000, atOnce: true })
    console.log(
      `calm: ${calm.accepted.length / 2}/s; storm: ${storm.accepted.length / 3}/s accepted (p99 ${p99(storm.accepted).toFixed(0)} ms), ${storm.shed / 3}/s shed`,
    )
    expect(storm.shed).toBeGreaterThan(0)
    expect(storm.withRetryAfter).toBe(storm.shed)
    expect({ others: storm.others, broken: storm.broken }).toEqual({ others: [], broken: 0 })
    // Checks that the server serves requests and does not only refuse them. The calm phase shows how busy the
    // machine is.
    return storm.accepted.length > 100 && p99(storm.accepted) < Math.max(1000, 20 * p99(calm.accepted))
  })

  // A busy server may still be closing the connections of the overload.
  expect((await untilTaken(() => server.create({ payload: 'x' }))).status).toBe(201)
  await waitUntil(async () => {
    const after = await hammer(server, { connections: 64, ms: 2000 })
    expect(after).toMatchObject({ shed: 0, others: [], broken: 0 })
    return after.accepted.length > calm.accepted.length / 2
  })
  expect(residentMib(server.pid)).toBeLessThan(400)
  await server.untilLogged('answered requests with 503')
  expect(server.stderr()).not.toMatch(/ 500 /)
  expect((await server.ask('/api/v2/version')).status).toBe(200)
})

test('thousands of idle connections cost little, and other clients are served meanwhile', async () => {
  const server = await stage.start()
  const before = residentMib(server.pid)
  const sockets = await Promise.all(
    Array.from({ length: 4000 }, (_, n) =>
      Bun.connect({
        hostname: '127.0.0.1',
        port: server.port,
        socket: {
          // Half of them send nothing; the others send a part of a request.
          open: (socket) =>
            void (n % 2 === 0 ? 0 : socket.write('POST /api/v2/pushes HTTP/1.1\r\nHost: localhost\r\nX-')),
          data: () => undefined,
        },
      }),
    ),
  )
  const worked = workedMsOf(server.pid)
  for (let n = 0; n < 50; n += 1) expect((await server.create({ payload: 'x' })).status).toBe(201)
  expect(workedMsOf(server.pid) - worked).toBeLessThan(1000)
  expect(residentMib(server.pid) - before).toBeLessThan(100)
  for (const socket of sockets) socket.end()
  expect((residentMib(server.pid) * MIB) / MIB).toBeLessThan(300)
})

test('large bodies that never end do not exhaust the memory, and prevent no push, large or small', async () => {
  const server = await stage.start()
  const before = residentMib(server.pid)
  const size = 6 * MIB
  const piece = Buffer.alloc(64 * 1024, 'a')
  const head = `POST /api/v2/pushes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${size}\r\n\r\n`
  const refused: string[] = []
  const pump = (socket: Bun.Socket<{ left: number }>) => {
    while (socket.data.left > 0) {
      const written = socket.write(piece.subarray(0, Math.min(piece.length, socket.data.left)))
      if (written <= 0) return
      socket.data.left -= written
    }
  }
  const sockets = await Promise.all(
    Array.from({ length: 300 }, () =>
      Bun.connect({
        hostname: '127.0.0.1',
        port: server.port,
        data: { left: size - 1000 },
        socket: {
          open: (socket) => {
            socket.write(head)
            pump(socket)
          },
          drain: pump,
          data: (_, bytes) => void refused.push(bytes.toString('latin1')),
          error: () => undefined,
        },
      }),
    ),
  )
  const large = `{"push": {"payload": "${'\\u0041'.repeat(500_000)}"}}`
  const pushLarge = () =>
    server.ask('/api/v2/pushes', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: large,
    })
  await waitUntil(() => refused.length >= 270)
  // Stalled bodies get slower on average, and the slowest gives way to one that arrives quickly.
  await Bun.sleep(1000)
  // About twenty fit into 128 MiB; fewer if all of them grow in step.
  expect(refused.length).toBeGreaterThanOrEqual(270)
  expect(refused.length).toBeLessThan(300)
  for (const answer of refused) {
    expect(answer).toStartWith('HTTP/1.1 503 ')
    expect(answer).toMatch(/\r\nretry-after: 1\r\n/i)
  }
  // A small part of the announced 1,800 MiB. A busy machine collects garbage of refused bodies late.
  expect(residentMib(server.pid) - before).toBeLessThan(600)
  expect((await server.create({ payload: 'correct horse battery staple' })).status).toBe(201)
  expect((await pushLarge()).status).toBe(201)
  expect(refused.length).toBeLessThan(300)
  for (const socket of sockets) socket.end()
})
