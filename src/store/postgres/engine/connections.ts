// The connections of this process, opened when they are needed. After a failure all idle ones are replaced, because whatever
// ended one has mostly ended the others too, and nobody should find that out one after another.

import type { DatabaseCounts } from '../../database-face.ts'
import type { Connection } from './connection.ts'
import type { Deadline } from './deadline.ts'
import { reasonOf, unavailable } from './failures.ts'

export type Connections = {
  /** Waits for a free connection until the deadline, then throws `overloaded`. Urgent callers go first. */
  acquire(options: { deadline: Deadline; isUrgent: boolean }): Promise<Connection>
  /** Hands a connection back; one that was lost is replaced. */
  release(connection: Connection): void
  count(): DatabaseCounts['connections']
  /** Replaces all connections that are open now; those in use when they come back. */
  renew(): void
  close(): void
}

/**
 * Called when the database gives no more connections, once for each reason, and with null when it does again. `left`: connections
 * that are open still and have not failed.
 */
export type OnState = (cause: unknown, left: number) => void

export type ConnectionsOptions = {
  /** `onLost` is called when the connection breaks. */
  open: (onLost: () => void) => Promise<Connection>
  max: number
  onState: OnState
}

type Waiter = { give: (connection: Connection) => void; refuse: () => void; isUrgent: boolean }

/** When the database has been away for so long, callers wait less, so that a crowd of them does not pile up. */
const LONG_AWAY_MS = 5000
const WAIT_WHEN_AWAY_MS = 1000
/** The longest that a silent server keeps this side from noticing: a request may have waited for so long already. */
const LONGEST_SILENCE_MS = 4000
const FIRST_PAUSE_MS = 50
const LAST_PAUSE_MS = 1000

export function createConnections({ open, max, onState }: ConnectionsOptions): Connections {
  const idle: Connection[] = []
  /** Those opened since the last failure. */
  let trusted = new Set<Connection>()
  const waiters: Waiter[] = []
  let count = 0
  let opening = 0
  let failures = 0
  const told = new Set<string>()
  let awaySince = 0
  let workedAt = 0
  let lastCause: unknown = null
  let pause: ReturnType<typeof setTimeout> | null = null
  let isClosed = false

  function grow(): void {
    // A server that refuses is asked by one connection at a time.
    const most = failures === 0 ? waiters.length : Math.min(1, waiters.length)
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
    if (failures > 0 && !isClosed) onState(null, trusted.size)
    failures = 0
    told.clear()
    release(opened)
  }

  function fail(cause: unknown, began: number): void {
    if (isClosed) return
    if (failures === 0) awaySince = Math.max(workedAt, began - LONGEST_SILENCE_MS)
    const reason = `${trusted.size === 0} ${reasonOf(cause)}`
    if (!told.has(reason)) onState(cause, trusted.size)
    told.add(reason)
    lastCause = cause
    pause ??= setTimeout(
      () => {
        pause = null
        grow()
      },
      Math.min(LAST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures),
    )
    failures += 1
  }

  function discard(connection: Connection): void {
    count -= 1
    trusted.delete(connection)
    connection.close()
    grow()
  }

  function release(connection: Connection): void {
    if (connection.isLost()) distrust(connection)
    else if (connection.isOpen()) workedAt = performance.now()
    if (isClosed || !connection.isOpen() || !trusted.has(connection)) {
      discard(connection)
      return
    }
    const waiter = waiters.shift()
    if (waiter === undefined) idle.push(connection)
    else waiter.give(connection)
  }

  /** An older failure says nothing of the connections of now. */
  function distrust(lost: Connection): void {
    if (trusted.has(lost)) renew()
  }

  function renew(): void {
    trusted = new Set()
    for (const connection of idle.splice(0)) discard(connection)
  }

  function waitFor(isUrgent: boolean, deadline: Deadline): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const refuse = () => {
        waiters.splice(waiters.indexOf(waiter), 1)
        reject(unavailable(lastCause))
      }
      const isLongAway = !isUrgent && failures > 0 && performance.now() - awaySince > LONG_AWAY_MS
      const timer = setTimeout(refuse, isLongAway ? WAIT_WHEN_AWAY_MS : deadline.left())
      const waiter: Waiter = {
        isUrgent,
        refuse,
        give: (connection) => {
          clearTimeout(timer)
          resolve(connection)
        },
      }
      waiters.splice(isUrgent ? waiters.filter((other) => other.isUrgent).length : waiters.length, 0, waiter)
      grow()
    })
  }

  return {
    acquire: async ({ deadline, isUrgent }) => {
      if (isClosed) throw unavailable(null)
      const connection = idle.pop()
      return connection ?? waitFor(isUrgent, deadline)
    },
    release,
    renew,
    count: () => ({
      inUse: count - idle.length,
      idle: idle.length,
      most: max,
      waiting: waiters.length,
    }),
    close: () => {
      isClosed = true
      if (pause !== null) clearTimeout(pause)
      for (const waiter of [...waiters]) waiter.refuse()
      for (const connection of idle.splice(0)) discard(connection)
    },
  }
}
