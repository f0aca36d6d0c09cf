// Attempts a change until it is durable. Each attempt is an operation with an id of its own, and an outcome that is not known is
// settled before the next attempt.

import { randomKey } from '../../../crypto/random.ts'
import { addToOutage } from '../../../domain/errors.ts'
import type { Connections } from './connections.ts'
import type { Session } from './database.ts'
import { deadlineIn } from './deadline.ts'
import type { Persist } from './persisting.ts'
import { type Outcome, settleOperation } from './settlement.ts'
import type { Patience } from './silence.ts'
import { ANSWER_MS, type Attempt, type Attempted } from './transaction.ts'

export type ChangeOptions = {
  connections: Pick<Connections, 'use'>
  persist: Persist
  /** Runs a work before those of other callers, on any connection, until it succeeds. */
  runUrgently: <T>(work: (session: Session) => Promise<T>, patience: Patience) => Promise<T>
  /** Counts a settlement when it ends. */
  settling: (settlement: Promise<Outcome>) => Promise<Outcome>
  /** Called with the id of each operation that is durable. */
  onDurable: (operationId: Uint8Array) => void
}

export type Change = <T>(attempt: (given: Attempt) => Promise<Attempted<T>>, patience: Patience) => Promise<T>

const ID_BYTES = 16
/** A settlement has at least this long, also when it begins late. */
const SETTLE_MS = 1500

export function createChange(options: ChangeOptions): Change {
  const { connections, persist, runUrgently, settling, onDurable } = options

  const change: Change = (attempt, patience) => {
    const { end } = patience
    return persist(end, async () => {
      const operationId = randomKey(ID_BYTES)
      const attempted = await connections.use({ deadline: end, isUrgent: false }, (connection) =>
        attempt({ connection, operationId, patience }),
      )
      if (!attempted.isKnown && !(await hasHappened(operationId, patience))) return null
      onDurable(operationId)
      return attempted
    })
  }

  /**
   * False when nothing happened, and nothing can happen any more. Throws an error in doubt when the outcome stays unknown. It is not
   * settled later: the caller is told nothing that depends on it, so a view may be counted whose payload nobody got, but never
   * the reverse.
   */
  async function hasHappened(operationId: Uint8Array, { end }: Patience): Promise<boolean> {
    const patience = { answer: ANSWER_MS, end: end.left() < SETTLE_MS ? deadlineIn(SETTLE_MS) : end }
    const settlement = runUrgently((session) => settleOperation(session, operationId), patience)
    const { happened } = await settling(settlement).catch((cause) => {
      throw addToOutage(cause, { isInDoubt: true })
    })
    return happened
  }

  return change
}
