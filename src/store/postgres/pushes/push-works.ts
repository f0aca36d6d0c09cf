// Works on single pushes, such as views. The works that wait are read together, decided one after another in memory, and written
// in one statement; each is settled once that is durable.

import type { Now } from '../../../domain/time.ts'
import type { PostgresDatabase, Session } from '../engine/database.ts'
import { type BatchRead, readAndLockPushes, readPushes, type Wanted } from './batch-reads.ts'
import type { Waiting } from './next-batch.ts'
import { type Change, isChanged } from './push-changes.ts'
import { type Folded, fold, type PushWork } from './push-fold.ts'
import { readGranted } from './push-rows.ts'
import { planChanges, statementOf, writeChanges } from './push-writes.ts'
import { runTogether } from './together.ts'
import { createWorkQueue } from './work-queue.ts'

export type PushWorksOptions = {
  database: Pick<PostgresDatabase, 'read' | 'transact' | 'write'>
  now: Now
  /** The time by which something may be destroyed. */
  certain: Now
  /** Told the clock of the database, in milliseconds since 1970. */
  observe: (databaseTime: number) => void
  /** Called after a commit that made files due. */
  onDue: () => void
}

/** Resolves to null when there is no such push; otherwise to what the visit returned, once all that it did is durable. */
export type RunWork = <T>(work: PushWork<T>) => Promise<T | null>

type Work = Waiting & PushWork<unknown> & { resolve: (value: unknown) => void; conflicts: number }

/** What was decided, and the ids of the pushes that were written. */
type Written = { folded: Folded<Work>; ids: ReadonlySet<number> }

const MOST_IN_BATCH = 256
const MOST_AT_ONCE = 2
const MOST_WAITING = 10_000
/** A work that met so many changes by others locks its push, because otherwise it might never get its turn on a busy one. */
const MOST_CONFLICTS = 2

export function createPushWorks(options: PushWorksOptions) {
  const { database, now, certain, observe, onDue } = options
  const queue = createWorkQueue<Work>({
    run,
    mostInBatch: MOST_IN_BATCH,
    mostWeight: 0,
    mostAtOnce: MOST_AT_ONCE,
    mostWaiting: MOST_WAITING,
  })

  const work: RunWork = <T>({ push, asksForGrants = false, endsPush = false, visit }: PushWork<T>) =>
    new Promise<T | null>((resolve, reject) => {
      const key = 'id' in push ? String(push.id) : Buffer.from(push.lookup).toString('latin1')
      const settling = { resolve: (value: unknown) => resolve(value as T | null), reject }
      const waiting = { key, weight: 0, since: performance.now() }
      queue.add({ push, asksForGrants, endsPush, visit, conflicts: 0, ...waiting, ...settling })
    })

  async function run(batch: Work[], within: number): Promise<Work[]> {
    const locking = batch.filter(({ conflicts }) => conflicts >= MOST_CONFLICTS)
    const others = batch.filter(({ conflicts }) => conflicts < MOST_CONFLICTS)
    const again = await Promise.all([
      runTogether(locking, (works) => writeLocked(works, within)),
      runTogether(others, (works) => writeOptimistically(works, within)),
    ])
    return again.flat()
  }

  /**
   * Reads without a lock, and writes the pushes that nobody has changed since. Resolves to the works on the others, which go
   * again.
   */
  async function writeOptimistically(works: Work[], within: number): Promise<Work[]> {
    const until = performance.now() + within
    const { folded, planned } = await database.read(
      async (session) => {
        const folded = await decide(session, works, await readPushes(session, wantedBy(works)))
        return { folded, planned: await planChanges(session, folded.changes, { certain: certain() }) }
      },
      { within },
    )
    if (planned === null) return finish(works, { folded, ids: new Set() })
    const left = { within: Math.max(0, until - performance.now()) }
    const ids = await database.write((operationId) => statementOf(planned, operationId), left)
    return finish(works, { folded, ids: new Set(ids) })
  }

  /** Locks the pushes before it reads them, so that all are written. Resolves to the works that go again. */
  async function writeLocked(works: Work[], within: number): Promise<Work[]> {
    const written = await database.transact(
      async (session) => {
        const folded = await decide(session, works, await readAndLockPushes(session, wantedBy(works)))
        return { folded, ids: await writeChanges(session, folded.changes, { certain: certain() }) }
      },
      { within },
    )
    return finish(works, written)
  }

  async function decide(session: Session, works: Work[], read: BatchRead): Promise<Folded<Work>> {
    if (read.time !== null) observe(read.time)
    const times = { now: now(), certain: certain() }
    return fold(works, { read, granted: await grantsFor(session, works, { read, now: times.now }), times })
  }

  /** Settles the works whose push was written. Returns the others, which go again. */
  function finish(works: readonly Work[], { folded: { outcomes, changes }, ids }: Written): Work[] {
    if (changes.some((change) => ids.has(change.before.id) && makesFilesDue(change))) onDue()
    return works.filter((one) => {
      const outcome = outcomes.get(one)
      if (outcome === undefined) return true
      const { change, result } = outcome
      if (change !== null && isChanged(change) && !ids.has(change.before.id)) {
        one.conflicts += 1
        return true
      }
      if ('cause' in result) one.reject(result.cause)
      else one.resolve(result.value)
      return false
    })
  }

  return { work, idle: queue.idle, count: queue.count }
}

function wantedBy(works: readonly Work[]): Wanted {
  const ids = new Set<number>()
  const lookups = new Map<string | null, Uint8Array>()
  for (const { push, key } of works) {
    if ('id' in push) ids.add(push.id)
    else lookups.set(key, push.lookup)
  }
  return { ids: [...ids], lookups: [...lookups.values()] }
}

async function grantsFor(
  session: Session,
  works: readonly Work[],
  { read, now }: { read: BatchRead; now: number },
): Promise<ReadonlySet<number>> {
  if (!works.some(({ asksForGrants }) => asksForGrants)) return new Set()
  const ended = read.rows.filter(({ files, expiredOn }) => files > 0 && expiredOn !== null)
  return ended.length === 0 ? new Set() : readGranted(session, { ids: ended.map(({ id }) => id), now })
}

function makesFilesDue({ before, end, grantsEnded }: Change): boolean {
  return before.files > 0 && (end !== null || grantsEnded !== null)
}
