// The connections of a process, opened by a stand-in: who waits for them, for how long, and what is told.

import { expect, spyOn, test } from 'bun:test'
import { DomainError } from '../../../../src/domain/errors.ts'
import type { Connection } from '../../../../src/store/postgres/engine/connection.ts'
import { createConnections } from '../../../../src/store/postgres/engine/connections.ts'
import { deadlineIn } from '../../../../src/store/postgres/engine/deadline.ts'

function connectionOf(): Connection & { isClosed: boolean } {
  let state: 'open' | 'lost' | 'closed' = 'open'
  return {
    run: () => Promise.reject(new Error('nothing runs here')),
    isOpen: () => state === 'open',
    isLost: () => state === 'lost',
    lose: () => {
      state = 'lost'
    },
    close() {
      this.isClosed = true
      if (state === 'open') state = 'closed'
    },
    isClosed: false,
  }
}

function openConnections(max: number, causes: unknown[] = []) {
  const opened: ReturnType<typeof connectionOf>[] = []
  const told: unknown[] = []
  const left: number[] = []
  const connections = createConnections({
    max,
    onState: (cause, open) => {
      told.push(cause)
      left.push(open)
    },
    open: async () => {
      const cause = causes.shift()
      if (cause !== undefined) throw cause
      const connection = connectionOf()
      opened.push(connection)
      return connection
    },
  })
  const acquire = (isUrgent = false, within = 20_000) =>
    connections.acquire({ deadline: deadlineIn(within), isUrgent })
  return { connections, acquire, opened, told, left }
}

test('an outage is told once for each reason, and its end once', async () => {
  const refused = Object.assign(new Error('refused'), { code: 'ERR_POSTGRES_CONNECTION_REFUSED' })
  const wrong = new DomainError('conflict', 'The server is a standby.')
  const { acquire, told } = openConnections(1, [refused, refused, wrong, refused, wrong])
  await acquire()
  expect(told).toEqual([refused, wrong, null])
})

test('a server that gives no further connection is told apart from one that gives none', async () => {
  const full = Object.assign(new Error('too many connections'), { errno: '53300' })
  const causes: unknown[] = [full]
  const { connections, acquire, told, left } = openConnections(2, causes)
  const first = await acquire()
  causes.push(full)
  connections.release(await acquire())
  expect(told).toEqual([full, null, full, null])
  expect(left).toEqual([0, 1, 1, 2])
  connections.release(first)
})

test('no more connections are opened than may be, and they are used again', async () => {
  const { connections, acquire, opened } = openConnections(2)
  const [first, second] = await Promise.all([acquire(), acquire()])
  const third = acquire()
  if (first !== undefined) connections.release(first)
  expect(await third).toBe(first)
  expect(opened).toHaveLength(2)
  connections.release(second)
  expect(connections.count()).toMatchObject({ inUse: 1, idle: 1, most: 2, waiting: 0 })
})

test('who settles an outcome goes first', async () => {
  const { connections, acquire } = openConnections(1)
  const only = await acquire()
  const order: string[] = []
  const waiting = [
    acquire().then((connection) => [order.push('first'), connections.release(connection)]),
    acquire(true).then((connection) => [order.push('urgent'), connections.release(connection)]),
  ]
  connections.release(only)
  await Promise.all(waiting)
  expect(order).toEqual(['urgent', 'first'])
})

test('when one is lost all others are replaced, those in use when they come back; a late one says nothing of others', async () => {
  const { connections, acquire, opened } = openConnections(3)
  const [idle, lost, busy] = await Promise.all([acquire(), acquire(), acquire()])
  connections.release(idle)
  lost.lose()
  connections.release(lost)
  expect(opened.map(({ isClosed }) => isClosed)).toEqual([true, true, false])
  connections.release(busy)
  expect(opened[2]?.isClosed).toBe(true)
  const [late, other] = await Promise.all([acquire(), acquire()])
  connections.release(other)
  late.close()
  connections.release(late)
  expect(await acquire()).toBe(other)
})

test('who waits for too long is refused, and takes no connection with him', async () => {
  const { connections, acquire } = openConnections(1)
  const only = await acquire()
  const failure = await acquire(false, 20).catch((cause: unknown) => cause)
  expect(failure).toMatchObject({ code: 'overloaded' })
  connections.release(only)
  expect(await acquire()).toBe(only)
})

test('a process that ends refuses those who wait, and closes what is idle', async () => {
  const { connections, acquire, opened } = openConnections(1)
  const only = await acquire()
  const waiting = acquire().catch((cause: unknown) => cause)
  connections.close()
  expect(await waiting).toMatchObject({ code: 'overloaded' })
  connections.release(only)
  expect(opened[0]?.isClosed).toBe(true)
})

test('a connection that fails once the process ends tells nobody and is not tried again', async () => {
  const refusal = Promise.withResolvers<Connection>()
  const told: unknown[] = []
  let tries = 0
  const connections = createConnections({
    max: 1,
    onState: (cause) => told.push(cause),
    open: () => {
      tries += 1
      return refusal.promise
    },
  })
  const waiting = connections.acquire({ deadline: deadlineIn(20_000), isUrgent: false })
  const refused = waiting.catch((cause: unknown) => cause)
  connections.close()
  expect(await refused).toMatchObject({ code: 'overloaded' })
  const timers = spyOn(globalThis, 'setTimeout')
  refusal.reject(new Error('refused'))
  await refusal.promise.catch(() => undefined)
  await new Promise((resolve) => setImmediate(resolve))
  expect(timers.mock.calls.length).toBe(0)
  timers.mockRestore()
  expect([tries, told]).toEqual([1, []])
})
