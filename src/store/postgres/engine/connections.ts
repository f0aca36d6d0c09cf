// The connections of this process, opened when they are needed. After a failure all idle ones are replaced, because what ended
// one has usually ended the others, too.

import type { DatabaseCounts } from '../../database-face.ts'
import { createAbsence, type OnState } from './absence.ts'
import type { Connection } from './connection.ts'
import type { Deadline } from './deadline.ts'
import { unavailable } from './failures.ts'
import { createWaitingLine } from './waiting-line.ts'

export type Connections = {
  /** Waits for a free connection until the deadline, then throws `overloaded`. Urgent callers go first. */
  acquire(options: { deadline: Deadline; isUrgent: boolean }): Promise<Connection>
  /** Hands a connection back; one that was lost is replaced. */
  release(connection: Connection): void
  /** Runs work on a connection of its own, and hands it back. */
  use<T>(
    wait: { deadline: Deadline; isUrgent: boolean },
    work: (connection: Connection) => Promise<T>,
  ): Promise<T>
  count(): DatabaseCounts['connections']
  close(): void
}

export type ConnectionsOptions = {
  /** `onLost` is called when the connection breaks. */
  open: (onLost: () => void) => Promise<Connection>
  max: number
  onState: OnState
}

/** How long callers wait while the database has been away for long. */
const WAIT_WHEN_AWAY_MS = 1000

export function createConnections({ open, max, onState }: ConnectionsOptions): Connections {
  const idle: Connection[] = []
  /** Those opened since the last failure. */
  let trusted = new Set<Connection>()
  const line = createWaitingLine()
  const absence = createAbsence(onState)
  let count = 0
  let opening = 0
  let pause: Timer | null = null
  let isClosed = false

  /** Opens as many as callers wait for. A server that refuses is asked by one connection at a time. */
  function grow(): void {
    const most = absence.isAway() ? Math.min(1, line.length()) : line.length()
    while (!isClosed && pause === null && opening < most && count + opening < max) void openOne()
  }

  async function openOne(): Promise<void> {
    opening += 1
    const began = performance.now()
    let opened: Connection | null = null
    try {
      opened = await open(() => opened !== null && distrust(opened))
    } catch (cause) {
      fail(cause, began)
    }
    opening -= 1
    if (opened !== null) welcome(opened)
    grow()
  }

  function welcome(opened: Connection): void {
    count += 1
    trusted.add(opened)
    if (!isClosed) absence.ended(trusted.size)
    release(opened)
  }

  function fail(cause: unknown, began: number): void {
    if (isClosed) return
    absence.failed(cause, { began, left: trusted.size })
    pause ??= setTimeout(() => {
      pause = null
      grow()
    }, absence.pause())
  }

  function discard(connection: Connection): void {
    count -= 1
    trusted.delete(connection)
    connection.close()
    grow()
  }

  function release(connection: Connection): void {
    if (connection.isLost()) distrust(connection)
    else if (connection.isOpen()) absence.worked()
    if (isClosed || !connection.isOpen() || !trusted.has(connection)) discard(connection)
    else if (!line.give(connection)) idle.push(connection)
  }

  /** Ignores a connection that was replaced already: its failure says nothing about those that are open now. */
  function distrust(lost: Connection): void {
    if (trusted.has(lost)) renew()
  }

  /** Replaces all connections that are open now; those in use when they come back. */
  function renew(): void {
    trusted = new Set()
    discardIdle()
  }

  function discardIdle(): void {
    for (const connection of idle.splice(0)) discard(connection)
  }

  function waitInLine(isUrgent: boolean, deadline: Deadline): Promise<Connection> {
    const within = absence.isLong() && !isUrgent ? WAIT_WHEN_AWAY_MS : deadline.left()
    const coming = line.wait({ isUrgent, within, refusal: () => unavailable(absence.lastCause()) })
    grow()
    return coming
  }

  async function acquire({ deadline, isUrgent }: { deadline: Deadline; isUrgent: boolean }) {
    if (isClosed) throw unavailable(null)
    return idle.pop() ?? waitInLine(isUrgent, deadline)
  }

  const use: Connections['use'] = async (wait, work) => {
    const connection = await acquire(wait)
    try {
      return await work(connection)
    } finally {
      release(connection)
    }
  }

  function close(): void {
    isClosed = true
    if (pause !== null) clearTimeout(pause)
    line.refuseAll()
    discardIdle()
  }

  return {
    acquire,
    release,
    use,
    count: () => ({ inUse: count - idle.length, idle: idle.length, most: max, waiting: line.length() }),
    close,
  }
}
