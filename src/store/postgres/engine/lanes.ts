// The connections of this process. Each is opened when it is needed and runs one transaction or read at a
// time. If packets are lost silently, a connection never fails, so one that is silent for too long is closed,
// and so are idle ones.

import type { ReservedSQL } from 'bun'
import { endsConnection, unavailable } from './failures.ts'
import { type Connect, type PostgresSession, reserveWithin, sessionOver } from './session.ts'

export type Lane = PostgresSession & {
  /** Sends a command without waiting for earlier ones. Resolves to the tag of the server's answer. */
  control(command: 'BEGIN' | 'COMMIT' | 'ROLLBACK'): Promise<string>
}

/** Called if no connection could be opened, and with null when that works again. */
export type OnState = (cause: unknown) => void

/**
 * `end`: until when work waits for a connection, by performance.now(). `once`: its timeout on the connection,
 * in milliseconds.
 */
export type LaneTimeouts = { end: number; once: number }

type LanesOptions = {
  connect: Connect
  max: number
  /** Runs on each new connection before its first use. If it throws, the connection is closed. */
  onConnect: (session: PostgresSession) => Promise<void>
  onState: OnState
}

/** `until`: the deadline of its current task; Infinity while it is idle. */
type Open = Lane & { until: number; isOpen: boolean; close(): void }
type Waiter = { give: (lane: Promise<Open>) => void; end: number }

const OPEN_MS = 2500
const LOOK_MS = 100
/** The minimum time for a task that got its connection just before the deadline. */
const LEAST_MS = 500
const AT_REST = Number.POSITIVE_INFINITY

export function createLanes({ connect, max, onConnect, onState }: LanesOptions) {
  const open = new Set<Open>()
  const waiting: Waiter[] = []
  let idle: Open[] = []
  let opening = 0
  let isAway = false
  let isClosed = false
  const timer = setInterval(look, LOOK_MS)
  timer.unref()

  /** Closes connections whose work timed out, and rejects waiters past their deadline. */
  function look(): void {
    const now = performance.now()
    for (const lane of open) if (lane.until < now) lane.close()
    for (const late of waiting.filter(({ end }) => end < now)) {
      waiting.splice(waiting.indexOf(late), 1)
      late.give(Promise.reject(unavailable(null)))
    }
  }

  async function openOne(): Promise<Open> {
    opening += 1
    const client = connect(1, () => lane !== undefined && drop(lane))
    const close = () => void client.close({ timeout: 0 }).catch(() => undefined)
    let lane: Open | undefined
    try {
      // Reserve the connection: otherwise the pool would silently replace a lost one in the middle of a
      // transaction.
      lane = laneOver(await reserveWithin(client, OPEN_MS), close)
      open.add(lane)
      lane.until = performance.now() + OPEN_MS
      await onConnect(lane)
      if (isAway) onState(null)
      isAway = false
      return lane
    } catch (cause) {
      isAway = true
      if (!isClosed) onState(cause)
      if (lane === undefined) close()
      else drop(lane)
      throw cause
    } finally {
      opening -= 1
      if (lane === undefined) passOn()
    }
  }

  /** Closes a connection that is lost or timed out, and forgets it. */
  function drop(lane: Open): void {
    if (!lane.isOpen) return
    lane.isOpen = false
    lane.close()
    open.delete(lane)
    idle = idle.filter((other) => other !== lane)
    passOn()
  }

  /** Wakes the next waiter, which opens a connection in place of a lost one. */
  function passOn(): void {
    const next = waiting.shift()
    next?.give(acquire(next.end))
  }

  function acquire(end: number): Promise<Open> {
    if (isClosed) return Promise.reject(unavailable(null))
    const free = idle.pop()
    if (free !== undefined) return Promise.resolve(free)
    if (open.size + opening < max) return openOne()
    const { promise, resolve } = Promise.withResolvers<Open>()
    waiting.push({ give: resolve, end })
    return promise
  }

  function release(lane: Open): void {
    lane.until = AT_REST
    const next = waiting.shift()
    if (isClosed) drop(lane)
    else if (next !== undefined) next.give(Promise.resolve(lane))
    else idle.push(lane)
  }

  /**
   * Waits for a free connection, and runs `work` on it. Throws `overloaded` if none is free before the
   * timeout.
   */
  async function use<T>({ end, once }: LaneTimeouts, work: (lane: Lane) => Promise<T>): Promise<T> {
    const lane = await acquire(end)
    const now = performance.now()
    lane.until = Math.min(now + once, Math.max(end, now + LEAST_MS))
    try {
      return await work(lane)
    } catch (cause) {
      // Close the idle connections too: whatever ended this one has usually ended them.
      if (endsConnection(cause)) for (const one of [lane, ...idle]) drop(one)
      throw cause
    } finally {
      if (lane.isOpen) release(lane)
    }
  }

  function close(): void {
    isClosed = true
    clearInterval(timer)
    for (const { give } of waiting.splice(0)) give(Promise.reject(unavailable(null)))
    for (const lane of [...idle]) drop(lane)
  }

  const count = () => ({
    ...{ inUse: open.size - idle.length, idle: idle.length },
    ...{ most: max, waiting: waiting.length },
  })
  return { use, count, close }
}

function laneOver(reserved: ReservedSQL, close: () => void): Open {
  return {
    ...{ until: AT_REST, isOpen: true, close },
    ...sessionOver(reserved),
    control: (command) => CONTROLS[command](reserved).then(({ command: tag }) => tag),
  }
}

/**
 * Prepare these statements, because the client pipelines prepared ones; `unsafe` without parameters waits for
 * earlier statements.
 */
const CONTROLS = {
  BEGIN: (reserved: ReservedSQL) => reserved`BEGIN`,
  COMMIT: (reserved: ReservedSQL) => reserved`COMMIT`,
  ROLLBACK: (reserved: ReservedSQL) => reserved`ROLLBACK`,
}
