// The sweeper's work in small steps, shared by all nodes: writes pushes that ran out of time as expired. A step passes over rows
// that another node has locked.

import { DAY, type Now } from '../../../domain/time.ts'
import { lapseStep } from '../../../domain/visits.ts'
import type { ExpiryStore } from '../../face.ts'
import type { PostgresDatabase, Session } from '../engine/database.ts'
import { addStep, changeOf } from '../pushes/push-changes.ts'
import { PUSH_COLUMNS } from '../pushes/push-rows.ts'
import { writeChanges } from '../pushes/push-writes.ts'
import { LAST_TIME, mend, type PushRow } from '../pushes/stored-push.ts'
import { createPurge } from './purge.ts'

const STEP = 200

const NEXT_LAPSE = `
  SELECT expires_at::float8 AS "expiresAt" FROM pushes WHERE expired_on IS NULL ORDER BY expires_at, id LIMIT 1`

const LAPSED = `
  SELECT ${PUSH_COLUMNS} FROM pushes WHERE expired_on IS NULL AND expires_at <= $1::bigint
  ORDER BY expires_at, id LIMIT ${STEP} FOR UPDATE SKIP LOCKED`

// An end that no push can have never comes. Such a push opens for nobody, and ends when it would have ended at the latest.
const ENDLESS = `
  SELECT ${PUSH_COLUMNS} FROM pushes WHERE expired_on IS NULL AND expires_at > ${LAST_TIME}
    AND (created_at NOT BETWEEN 0 AND ${LAST_TIME} OR created_at + expire_after_days::bigint * ${DAY} <= $1::bigint)
  ORDER BY expires_at, id LIMIT ${STEP} FOR UPDATE SKIP LOCKED`

// Waits for rows that another node has locked, because afterwards none may be left.
const LAPSED_OF = `
  SELECT ${PUSH_COLUMNS} FROM pushes WHERE owner_id = $2 AND expired_on IS NULL AND expires_at <= $1::bigint
  ORDER BY id LIMIT ${STEP} FOR UPDATE`

export type ExpiryOptions = {
  database: Pick<PostgresDatabase, 'read' | 'transact'>
  /** The time by which something may be destroyed. */
  certain: Now
  /** Called after a commit that made files due. */
  onDue: () => void
}

export function createExpiry(options: ExpiryOptions): ExpiryStore {
  const { certain, onDue } = options
  const { read, transact } = options.database

  async function findNextLapse(): Promise<number | null> {
    const [next] = await read(({ query }) => query<{ expiresAt: number }>(NEXT_LAPSE))
    return next === undefined || next.expiresAt > LAST_TIME ? null : next.expiresAt
  }

  /** Resolves to the number of pushes that were written as expired. */
  async function expireSome(texts: readonly string[], ...values: unknown[]): Promise<number> {
    const ended = await transact(async (session) => {
      const time = certain()
      const rows: PushRow[] = []
      for (const text of texts) rows.push(...(await session.query<PushRow>(text, [time, ...values])))
      await endAll(session, rows, time)
      return rows
    })
    if (ended.some(({ files }) => files > 0)) onDue()
    return ended.length
  }

  /** Looks at the owner's live pushes only if some push of the instance is due, which is rare. */
  async function expireLapsedOf(ownerId: number): Promise<void> {
    for (let done = STEP; done === STEP; ) {
      const next = await findNextLapse()
      if (next === null || next > certain()) return
      done = await expireSome([LAPSED_OF], ownerId)
    }
  }

  return {
    findNextLapse,
    expireLapsed: () => expireSome([LAPSED, ENDLESS]),
    expireLapsedOf,
    purgeExpired: createPurge({ transact, certain, onDue }),
  }
}

/** Within a transaction that has locked these rows. */
async function endAll(session: Session, rows: readonly PushRow[], certain: number): Promise<void> {
  const changes = rows.map((row) => {
    const change = changeOf(row)
    change.after = mend(row, { now: certain, hasLapsed: true })
    addStep(change, lapseStep(change.after, certain))
    return change
  })
  await writeChanges(session, changes, { certain })
}
