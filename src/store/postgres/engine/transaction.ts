// One transaction on one connection, and one statement that is a transaction by itself. Each inserts a row with the id of its
// operation, by which another connection can settle what became of it.

import type { Connection, ControlledSession, Patience } from './connection.ts'
import type { Session, Statement } from './database.ts'
import { endsConnection } from './failures.ts'

/** The connection was lost after what commits was sent: it may or may not have happened. */
export class UnknownOutcome extends Error {
  constructor(cause: unknown) {
    super('the connection was lost before PostgreSQL answered', { cause })
  }
}

export type Attempt<Work> = {
  connection: Connection
  operationId: Uint8Array
  patience: Patience
  work: Work
}

/** Hands what the work returned to `keep` before it commits. Throws UnknownOutcome; with any other cause nothing happened. */
export async function attemptTransaction<T>(
  { connection, operationId, patience, work }: Attempt<(session: Session) => Promise<T>>,
  keep: (value: T) => void,
): Promise<void> {
  let isCommitSent = false
  try {
    await connection.run(async (session) => {
      keep(await workWithin(session, { operationId, patience, work }))
      isCommitSent = true
      const tag = await session.control('COMMIT')
      if (tag !== 'COMMIT') throw new Error('a transaction went on after an error, and was rolled back')
    }, patience)
  } catch (cause) {
    if (endsConnection(cause)) connection.lose()
    throw isCommitSent && !connection.isOpen() ? new UnknownOutcome(cause) : cause
  }
}

/** BEGIN and the operation's row are sent together with the first statement of the work. */
async function workWithin<T>(
  session: ControlledSession,
  { operationId, patience, work }: Omit<Attempt<(session: Session) => Promise<T>>, 'connection'>,
): Promise<T> {
  const begun = begin(session, { operationId, patience })
  // Awaited below; until then a failure is nobody's.
  begun.catch(() => undefined)
  try {
    const value = await work(session)
    await begun
    return value
  } catch (cause) {
    // After a failed beginning the work sees only that its transaction is aborted.
    const first = await begun.then(
      () => cause,
      (failure) => failure,
    )
    if (!endsConnection(first)) await session.control('ROLLBACK')
    throw first
  }
}

async function begin(
  session: ControlledSession,
  { operationId, patience: { answer } }: { operationId: Uint8Array; patience: Patience },
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

/** Throws UnknownOutcome; with any other cause nothing happened. */
export async function attemptStatement({
  connection,
  patience,
  work,
}: Omit<Attempt<Statement>, 'operationId'>): Promise<number[]> {
  try {
    const [row] = await connection.run(
      (session) => session.query<{ result: number[] | null }>(work.text, work.values),
      patience,
    )
    return row?.result ?? []
  } catch (cause) {
    if (endsConnection(cause)) connection.lose()
    throw !connection.isOpen() ? new UnknownOutcome(cause) : cause
  }
}
