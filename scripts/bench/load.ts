// The load generator: keep-alive connections on raw sockets, each with one request in progress at any time.

import type { Socket } from 'bun'
import { type Answer, readAnswer } from './framing.ts'
import { createLatencies, type Latencies } from './latencies.ts'
import type { Running } from './servers.ts'

const SILENCE_NANOSECONDS = 10e9
const RECONNECTS_ALLOWED = 200

/** A load: its requests and its server. */
export interface Requests {
  /** Whether to use TLS. The certificate is not verified. */
  readonly server: Pick<Running, 'port' | 'pid' | 'isTls'>
  /** More servers, over which the connections are distributed in turn. */
  readonly others?: readonly Pick<Running, 'port' | 'pid'>[]
  /**
   * Returns the bytes of the next request on connection 0, 1, …. They may be reused once that connection asks
   * for the next one.
   */
  readonly next: (connection: number) => Uint8Array
  /** Checks the body of a 2xx response; false counts as an error. */
  readonly accept: (body: Buffer) => boolean
}

export interface Load extends Requests {
  readonly connections: number
  /** The load ends after this number of seconds or requests. */
  readonly until: { readonly seconds: number } | { readonly requests: number }
  /** How long each connection waits before its next request. By default it does not wait. */
  readonly pauseMilliseconds?: number
}

export interface LoadResult {
  readonly requests: number
  /** Responses per second, without errors. */
  readonly rate: number
  /** Responses that are not 2xx or not accepted, broken connections, and requests without a response. */
  readonly errors: number
  /** The start of the first error's text. */
  readonly firstError: string | undefined
  readonly latencies: Latencies
  /** Responses per second in consecutive slots of equal length. */
  readonly overTime: readonly number[]
}

export const SLOT_MILLISECONDS = 250

interface Run {
  readonly load: Load
  readonly latencies: Latencies
  readonly connections: Connection[]
  readonly slots: number[]
  readonly startedAt: number
  readonly endsAt: number
  readonly requestsAllowed: number
  sent: number
  answers: number
  errors: number
  firstError: string | undefined
  lastAnswerAt: number
  connectsLeft: number
  /** The number of connections that have finished. */
  finished: number
  settle: (failure?: Error) => void
}

interface Connection {
  readonly run: Run
  readonly number: number
  socket: Socket<Connection> | undefined
  /** When the current request was sent; 0 if there is none. */
  sentAt: number
  unsent: Uint8Array | undefined
  received: Buffer | undefined
  finished: boolean
}

/**
 * Runs a load against 127.0.0.1. Rejects if nothing listens there or if the server keeps closing connections.
 */
export function runLoad(load: Load): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const run = beginRun(load)
    const watchdog = setInterval(() => giveUpWhenSilent(run), 1000)
    run.settle = (failure) => {
      clearInterval(watchdog)
      run.settle = () => {}
      for (const connection of run.connections) {
        connection.finished = true
        connection.socket?.terminate()
      }
      if (failure === undefined) resolve(presentRun(run))
      else reject(failure)
    }
    for (const connection of run.connections) void connect(connection)
  })
}

function beginRun(load: Load): Run {
  const startedAt = Bun.nanoseconds()
  const { until } = load
  const run: Run = {
    load,
    latencies: createLatencies(),
    connections: [],
    slots: [],
    startedAt,
    endsAt: 'seconds' in until ? startedAt + until.seconds * 1e9 : Number.POSITIVE_INFINITY,
    requestsAllowed: 'requests' in until ? until.requests : Number.POSITIVE_INFINITY,
    sent: 0,
    answers: 0,
    errors: 0,
    firstError: undefined,
    lastAnswerAt: startedAt,
    connectsLeft: load.connections + RECONNECTS_ALLOWED,
    finished: 0,
    settle: () => {},
  }
  for (let number = 0; number < load.connections; number += 1)
    run.connections.push(newConnection(run, number))
  return run
}

function newConnection(run: Run, number: number): Connection {
  return {
    run,
    number,
    socket: undefined,
    sentAt: 0,
    unsent: undefined,
    received: undefined,
    finished: false,
  }
}

function presentRun(run: Run): LoadResult {
  const seconds = (run.lastAnswerAt - run.startedAt) / 1e9
  return {
    requests: run.sent,
    rate: seconds > 0 ? Math.max(0, run.answers - run.errors) / seconds : 0,
    errors: run.errors,
    firstError: run.firstError,
    latencies: run.latencies,
    // Leave out the last slot, which is incomplete.
    overTime: run.slots.slice(0, -1).map((answers) => ((answers ?? 0) * 1000) / SLOT_MILLISECONDS),
  }
}

async function connect(connection: Connection): Promise<void> {
  const { run } = connection
  run.connectsLeft -= 1
  if (run.connectsLeft < 0) return run.settle(new Error(`the server closes connections: ${run.firstError}`))
  try {
    const { server, others = [] } = run.load
    const { port, isTls } = server
    const ports = [server, ...others].map((one) => one.port)
    await Bun.connect({
      hostname: '127.0.0.1',
      port: ports[connection.number % ports.length] ?? port,
      data: connection,
      socket: isTls ? tlsHandlers : handlers,
      ...(isTls ? { tls: { rejectUnauthorized: false } } : {}),
    })
  } catch (cause) {
    run.settle(new Error(`cannot connect to 127.0.0.1:${run.load.server.port}`, { cause }))
  }
}

const handlers = {
  open(socket: Socket<Connection>) {
    if (socket.data.finished) return void socket.terminate()
    socket.data.socket = socket
    sendNext(socket.data)
  },
  data(socket: Socket<Connection>, bytes: Buffer) {
    receive(socket.data, bytes)
  },
  drain(socket: Socket<Connection>) {
    if (socket.data.unsent !== undefined) write(socket.data, socket.data.unsent)
  },
  close(socket: Socket<Connection>) {
    // A socket also reports its own end, after which the connection may already have a new socket.
    if (socket.data.socket === socket) lose(socket.data, 'the server closed the connection')
  },
  error(socket: Socket<Connection>, cause: Error) {
    if (socket.data.socket === socket) lose(socket.data, cause.message)
  },
}

/** Socket handlers that send nothing before the TLS handshake. */
const tlsHandlers = { ...handlers, open: () => undefined, handshake: handlers.open }

function sendNext(connection: Connection): void {
  const { run } = connection
  const now = Bun.nanoseconds()
  if (now >= run.endsAt || run.sent >= run.requestsAllowed) {
    finish(connection)
    return
  }
  run.sent += 1
  connection.sentAt = now
  write(connection, run.load.next(connection.number))
}

function write(connection: Connection, bytes: Uint8Array): void {
  const written = connection.socket?.write(bytes) ?? 0
  connection.unsent = written < bytes.length ? bytes.subarray(Math.max(0, written)) : undefined
}

function receive(connection: Connection, bytes: Buffer): void {
  const all = connection.received === undefined ? bytes : Buffer.concat([connection.received, bytes])
  connection.received = undefined
  try {
    const answer = readAnswer(all)
    if (answer === undefined) {
      connection.received = all
      return
    }
    if (answer.length !== all.length) throw new Error('bytes after the end of an answer')
    count(connection, answer)
  } catch (cause) {
    // The next response can no longer be found in the bytes, so close the connection.
    lose(connection, String(cause))
    return
  }
  const { pauseMilliseconds } = connection.run.load
  if (pauseMilliseconds === undefined) sendNext(connection)
  else setTimeout(sendNext, pauseMilliseconds, connection)
}

function count(connection: Connection, answer: Answer): void {
  const { run } = connection
  const now = Bun.nanoseconds()
  run.latencies.record(now - connection.sentAt)
  run.answers += 1
  const slot = Math.floor((now - run.startedAt) / 1e6 / SLOT_MILLISECONDS)
  run.slots[slot] = (run.slots[slot] ?? 0) + 1
  run.lastAnswerAt = now
  connection.sentAt = 0
  if (answer.status >= 300 || !isAccepted(run.load, answer.body))
    fail(run, `${answer.status} ${answer.body.toString('utf8', 0, 300)}`)
}

function isAccepted({ accept }: Load, body: Buffer): boolean {
  try {
    return accept(body)
  } catch {
    return false
  }
}

function fail(run: Run, reason: string): void {
  run.errors += 1
  run.firstError ??= reason
}

function lose(connection: Connection, reason: string): void {
  const { run, socket } = connection
  if (connection.finished || socket === undefined) return
  connection.socket = undefined
  connection.received = undefined
  connection.unsent = undefined
  if (connection.sentAt > 0) {
    // Count it as an error, so that the rate includes only correct responses.
    run.answers += 1
    fail(run, reason)
  }
  connection.sentAt = 0
  socket.terminate()
  void connect(connection)
}

function finish(connection: Connection): void {
  const { run } = connection
  connection.finished = true
  run.finished += 1
  if (run.finished === run.connections.length) run.settle()
}

function giveUpWhenSilent(run: Run): void {
  if (Bun.nanoseconds() - run.lastAnswerAt < SILENCE_NANOSECONDS) return
  for (const connection of run.connections) {
    if (connection.sentAt === 0) continue
    run.answers += 1
    fail(run, 'no answer for ten seconds')
  }
  run.settle()
}
