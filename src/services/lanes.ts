// A bounded queue for slow work: limits how many works run and how many wait, and refuses the rest. Clients take turns.

import type { Viewer } from '../domain/audit.ts'
import { DomainError } from '../domain/errors.ts'
import { createWaitingLine, type Place, type WaitingLine } from './waiting-line.ts'

/** Who wants slow work done: the address of the request, and what it is about, such as one push or one account. */
export type Asker = { address: string; about: string }

/** Throws `overloaded` when too many works wait, or too many of this address. */
export type Lanes = <T>(asker: Asker, work: () => Promise<T>) => Promise<T>

/** Small numbers, in all and for one client, so that nobody waits for long. */
const LIMITS = { maxWaiting: 32, maxOfClient: 12 }

/** The client that an address belongs to, and the network, all of which one person may control (an IPv6 prefix). */
export type ClientOf = (address: string) => { client: string; network: string }

export type LanesOptions = { lanes: number; clientOf: ClientOf }

type Waiter = Place & { enter: () => void; refuse: (cause: DomainError) => void }

export function createLanes(options: LanesOptions): Lanes {
  return createSharedLanes(options).first
}

/** Two queues that share the same lanes. When works wait in both, the queues take turns. */
export function createSharedLanes({ lanes, clientOf }: LanesOptions) {
  const lines = [createWaitingLine<Waiter>(LIMITS), createWaitingLine<Waiter>(LIMITS)] as const
  let running = 0
  let turn = 0

  function enter(line: WaitingLine<Waiter>, { address, about: subject }: Asker): Promise<void> | void {
    if (running < lanes) {
      running += 1
      return
    }
    return new Promise<void>((resolve, reject) => {
      const leaving = line.add({ ...clientOf(address), subject, enter: resolve, refuse: reject })
      leaving?.refuse(overloaded())
    })
  }

  /** A freed lane passes directly to the next waiter. */
  function leave(): void {
    turn += 1
    const [line, other] = turn % 2 === 0 ? lines : ([lines[1], lines[0]] as const)
    const next = line.takeNext() ?? other.takeNext()
    if (next === null) running -= 1
    else next.enter()
  }

  function lanesOf(line: WaitingLine<Waiter>): Lanes {
    return async (asker, work) => {
      await enter(line, asker)
      try {
        return await work()
      } finally {
        leave()
      }
    }
  }

  return {
    first: lanesOf(lines[0]),
    second: lanesOf(lines[1]),
    /** Works that wait in each line, and those that run. */
    count: () => ({ first: lines[0].length(), second: lines[1].length(), running }),
  }
}

function overloaded(): DomainError {
  return new DomainError('overloaded', 'The server is busy; try again in a moment.', { retryAfter: 2 })
}

/** One lane for each name: works of one name run one after another, and do not wait for those of other names. */
export function createNamedLanes(clientOf: ClientOf) {
  const byName = new Map<string, { run: Lanes; users: number }>()

  return async function inTurn<T>(
    name: string,
    asker: Asker,
    work: (hasWaited: boolean) => Promise<T>,
  ): Promise<T> {
    const entry = byName.get(name) ?? { run: createLanes({ clientOf, lanes: 1 }), users: 0 }
    byName.set(name, entry)
    const hasWaited = entry.users > 0
    entry.users += 1
    try {
      return await entry.run(asker, () => work(hasWaited))
    } finally {
      entry.users -= 1
      if (entry.users === 0) byName.delete(name)
    }
  }
}

/** The asker for a request. Accounts at the same address take turns. */
export function askerOf({ account, visit }: Viewer, about: string): Asker {
  return { address: visit.ip, about: account === null ? about : `${about} for account ${account.id}` }
}
