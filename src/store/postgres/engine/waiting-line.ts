// Callers that wait for a connection: urgent ones first, then in the order in which they came.

import type { Connection } from './connection.ts'

export type WaitOptions = {
  isUrgent: boolean
  /** Milliseconds. */
  within: number
  /** What a caller gets when no connection comes in time. */
  refusal: () => Error
}

type Waiter = { give: (connection: Connection) => void; refuse: () => void; isUrgent: boolean }

export function createWaitingLine() {
  const waiters: Waiter[] = []

  function wait({ isUrgent, within, refusal }: WaitOptions): Promise<Connection> {
    const { promise, resolve, reject } = Promise.withResolvers<Connection>()
    const refuse = () => {
      clearTimeout(timer)
      waiters.splice(waiters.indexOf(waiter), 1)
      reject(refusal())
    }
    const timer = setTimeout(refuse, within)
    const give = (connection: Connection) => {
      clearTimeout(timer)
      resolve(connection)
    }
    const waiter: Waiter = { isUrgent, refuse, give }
    waiters.splice(isUrgent ? waiters.filter((other) => other.isUrgent).length : waiters.length, 0, waiter)
    return promise
  }

  /** Gives the connection to the first caller. False when nobody waits. */
  function give(connection: Connection): boolean {
    const first = waiters.shift()
    first?.give(connection)
    return first !== undefined
  }

  function refuseAll(): void {
    for (const waiter of [...waiters]) waiter.refuse()
  }

  return { wait, give, refuseAll, length: () => waiters.length }
}
