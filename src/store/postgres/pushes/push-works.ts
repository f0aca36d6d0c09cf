// Works on single pushes, such as views. The works that wait are read together, decided one after another in memory, and written
// in one statement; each is settled once that is durable.

import { DamageError, isDomainError } from '../../../domain/errors.ts'
import type { Now } from '../../../domain/time.ts'
import type { SealedSecrets } from '../../face.ts'
import type { Session, Transact } from '../engine/database.ts'
import { type BatchRead, readAndLockPushes, type Wanted } from './batch-reads.ts'
import { type Change, changeOf, isChanged } from './push-changes.ts'
import { readGranted } from './push-rows.ts'
import { writeChanges } from './push-writes.ts'
import type { Times } from './visits.ts'
import { createWorkQueue, type Waiting } from './work-queue.ts'

/** What a work finds: the push with all that happened to it before in this batch. */
export type Found = {
  change: Change
  /** Of a live push that was found by its lookup, and has neither passphrase nor files. Throws DamageError when it is missing. */
  secrets(): SealedSecrets
  /** Whether files of an expired push can still be downloaded, for a work that asks. */
  isGranted: boolean
}

export type PushWork<T> = {
  push: { id: number } | { lookup: Uint8Array }
  asksForGrants?: boolean
  /** Decides and adds steps to the change, without other effects: it may run several times. If it throws, it has added nothing. */
  visit: (found: Found, times: Times) => T
}

export type PushWorksOptions = {
  transact: Transact
  now: Now
  /** The time by which something may be destroyed. */
  certain: Now
  /** Told the clock of the database, in milliseconds since 1970. */
  observe: (databaseTime: number) => void
  /** Called after a commit that made files due. */
  onDue: () => void
}

type Work = Waiting & PushWork<unknown> & { resolve: (value: unknown) => void }
type Outcome = { value: unknown } | { cause: unknown }
/** The outcomes of works; a work without one goes again. */
type Folded = { outcomes: Map<Work, Outcome>; changes: Change[] }

const MOST_IN_BATCH = 256
const MOST_AT_ONCE = 2
const MOST_WAITING = 10_000

export type PushWorks = ReturnType<typeof createPushWorks>

export function createPushWorks(options: PushWorksOptions) {
  const { transact, now, certain, observe, onDue } = options
  const queue = createWorkQueue<Work>({
    run,
    mostInBatch: MOST_IN_BATCH,
    mostWeight: 0,
    mostAtOnce: MOST_AT_ONCE,
    mostWaiting: MOST_WAITING,
  })

  /** Resolves to null when there is no such push; otherwise to what the visit returned, once all that it did is durable. */
  function work<T>({ push, asksForGrants = false, visit }: PushWork<T>): Promise<T | null> {
    return new Promise<T | null>((resolve, reject) => {
      const key = 'id' in push ? String(push.id) : Buffer.from(push.lookup).toString('latin1')
      queue.add({
        push,
        asksForGrants,
        visit,
        key,
        weight: 0,
        resolve: (value) => resolve(value as T | null),
        reject,
      })
    })
  }

  async function run(batch: Work[]): Promise<Work[]> {
    try {
      const { outcomes, changes } = await transact((session) => runLocked(session, batch))
      if (changes.some(({ end, grantsEnded }) => end !== null || grantsEnded !== null)) onDue()
      return settle(batch, outcomes)
    } catch (cause) {
      if (batch.length === 1 || isDomainError(cause)) throw cause
      return runOneByOne(batch)
    }
  }

  /** A work that the database refuses does not fail the others of its batch. */
  async function runOneByOne(batch: Work[]): Promise<Work[]> {
    const again: Work[] = []
    for (const one of batch) {
      try {
        again.push(...(await run([one])))
      } catch (cause) {
        one.reject(cause)
      }
    }
    return again
  }

  async function runLocked(session: Session, batch: readonly Work[]): Promise<Folded> {
    const read = await readAndLockPushes(session, wantedBy(batch))
    const folded = await decide(session, batch, read)
    await writeChanges(session, folded.changes, { certain: certain() })
    return folded
  }

  async function decide(session: Session, batch: readonly Work[], read: BatchRead): Promise<Folded> {
    if (read.time !== null) observe(read.time)
    const times = { now: now(), certain: certain() }
    const granted = await grantsFor(session, batch, { read, now: times.now })
    return fold(batch, { read, granted, times })
  }

  return { work, idle: queue.idle, count: queue.count }
}

function wantedBy(batch: readonly Work[]): Wanted {
  const ids = new Set<number>()
  const lookups: Uint8Array[] = []
  for (const { push } of batch) {
    if ('id' in push) ids.add(push.id)
    else lookups.push(push.lookup)
  }
  return { ids: [...ids], lookups }
}

async function grantsFor(
  session: Session,
  batch: readonly Work[],
  { read, now }: { read: BatchRead; now: number },
): Promise<ReadonlySet<number>> {
  if (!batch.some(({ asksForGrants }) => asksForGrants)) return new Set()
  const ended = read.rows.filter(({ files, expiredOn }) => files > 0 && expiredOn !== null)
  return ended.length === 0 ? new Set() : readGranted(session, { ids: ended.map(({ id }) => id), now })
}

type Reading = { read: BatchRead; granted: ReadonlySet<number>; times: Times }

/** Decides the works in their order: what the first one leaves of a push is what the next one finds. */
function fold(batch: readonly Work[], { read, granted, times }: Reading): Folded {
  const changes = new Map(read.rows.map((row) => [row.id, changeOf(row)]))
  const idOf = new Map(read.rows.map(({ id, lookup }) => [keyOf(lookup), id]))
  const outcomes = new Map<Work, Outcome>()
  for (const one of batch) {
    const { push } = one
    const id = 'id' in push ? push.id : idOf.get(keyOf(push.lookup))
    const change = id === undefined ? undefined : changes.get(id)
    if (id === undefined || change === undefined) outcomes.set(one, { value: null })
    else if (!read.tooLarge.has(id)) {
      const secrets = () => secretsOf(read, id)
      outcomes.set(
        one,
        attempt(() => one.visit({ change, secrets, isGranted: granted.has(id) }, times)),
      )
    }
  }
  return { outcomes, changes: [...changes.values()].filter(isChanged) }
}

function secretsOf({ secrets }: BatchRead, id: number): SealedSecrets {
  const found = secrets.get(id)
  if (found === undefined) throw new DamageError(`push ${id}`)
  return found
}

function attempt(visit: () => unknown): Outcome {
  try {
    return { value: visit() }
  } catch (cause) {
    return { cause }
  }
}

function settle(batch: readonly Work[], outcomes: ReadonlyMap<Work, Outcome>): Work[] {
  return batch.filter((one) => {
    const outcome = outcomes.get(one)
    if (outcome === undefined) return true
    if ('cause' in outcome) one.reject(outcome.cause)
    else one.resolve(outcome.value)
    return false
  })
}

function keyOf(lookup: Uint8Array): string {
  return Buffer.from(lookup.buffer, lookup.byteOffset, lookup.byteLength).toString('latin1')
}
