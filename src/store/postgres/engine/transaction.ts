// One transaction on one connection. It inserts a row with the id of its operation, by which another connection can settle what
// became of it.

import type { Connection } from './connection.ts'
import type { ControlledSession } from './controlled-session.ts'
import type { Session } from './database.ts'
import { endsConnection } from './failures.ts'
import type { Patience } from './silence.ts'

export type Attempt = {
  connection: Connection
  operationId: Uint8Array
  patience: Patience
}

/**
 * What came of an attempt. `isKnown` is false when the connection was lost after what commits was sent: it may or may not have
 * happened.
 */
export type Attempted<T> = { value: T; isKnown: boolean }

/** Throws when nothing happened. */
export async function attemptTransaction<T>(
  { connection, operationId, patience }: Attempt,
  work: (session: Session) => Promise<T>,
): Promise<Attempted<T>> {
  const sent: { done: { value: T } | null } = { done: null }
  try {
    return await connection.run(async (session) => {
      const done = { value: await workWithin(session, { operationId, patience, work }) }
      sent.done = done
      const tag = await session.control('COMMIT')
      if (tag !== 'COMMIT') throw new Error('a transaction went on after an error, and was rolled back')
      return { ...done, isKnown: true }
    }, patience)
  } catch (cause) {
    const { done } = sent
    if (done === null || connection.isOpen()) throw cause
    return { ...done, isKnown: false }
  }
}

type Within<T> = Omit<Attempt, 'connection'> & { work: (session: Session) => Promise<T> }

/** BEGIN and the operation's row are sent together with the first statement of the work. */
async function workWithin<T>(session: ControlledSession, { work, ...begun }: Within<T>): Promise<T> {
  const beginning = begin(session, begun)
  // It is awaited below. A rejection before that must not count as unhandled.
  beginning.catch(() => undefined)
  try {
    const value = await work(session)
    await beginning
    return value
  } catch (cause) {
    // After a failed beginning the work sees only that its transaction is aborted.
    const first = await beginning.then(
      () => cause,
      (failure) => failure,
    )
    if (!endsConnection(first)) await session.control('ROLLBACK')
    throw first
  }
}

async function begin(
  session: ControlledSession,
  { operationId, patience: { answer } }: Omit<Attempt, 'connection'>,
): Promise<void> {
  await Promise.all([
    session.control('BEGIN'),
    ...(answer > ANSWER_MS ? [session.query(BE_PATIENT, [String(answer)])] : []),
    session.query('INSERT INTO operations (id) VALUES ($1)', [operationId]),
  ])
}

/** How long one answer may take, unless the caller says otherwise. The server gives a statement up a little earlier. */
export const ANSWER_MS = 3500

const BE_PATIENT = `SELECT set_config(name, $1, true)
  FROM unnest(ARRAY['statement_timeout', 'idle_in_transaction_session_timeout']) AS name`
