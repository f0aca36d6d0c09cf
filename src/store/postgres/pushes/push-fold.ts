// Decides the works of a batch in memory, in their order: what the first one leaves of a push is what the next one finds.

import { DamageError } from '../../../domain/errors.ts'
import { forward, type Times } from '../../../domain/visits.ts'
import type { SealedSecrets } from '../../face.ts'
import type { BatchRead } from './batch-reads.ts'
import { type Change, changeOf, isChanged } from './push-changes.ts'
import { mend, requireIntact } from './stored-push.ts'

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
  /** It ends the push, and so takes a damaged one: what is damaged is mended in its end. */
  endsPush?: boolean
  /** Decides and adds steps to the change, without other effects: it may run several times. If it throws, it has added nothing. */
  visit: (found: Found, times: Times) => T
}

/** `change` is what the works of the batch did to the push; null when there is no such push. */
export type Outcome = { change: Change | null; result: { value: unknown } | { cause: unknown } }

/** A work without an outcome could not be decided, because its push was not read. */
export type Folded<Work> = { outcomes: Map<Work, Outcome>; changes: Change[] }

export type Reading = { read: BatchRead; granted: ReadonlySet<number>; times: Times }

export function fold<Work extends PushWork<unknown>>(
  batch: readonly Work[],
  { read, granted, times }: Reading,
): Folded<Work> {
  const changes = new Map(read.rows.map((row) => [row.id, changeOf(row)]))
  const idOf = new Map(read.rows.map(({ id, lookup }) => [keyOf(lookup), id]))
  const outcomes = new Map<Work, Outcome>()
  for (const work of batch) {
    const id = 'id' in work.push ? work.push.id : idOf.get(keyOf(work.push.lookup))
    const change = id === undefined ? undefined : changes.get(id)
    if (id === undefined || change === undefined) outcomes.set(work, NONE)
    else if (!read.unread.has(id)) {
      const found = { change, secrets: () => secretsOf(read, id), isGranted: granted.has(id) }
      const visit = () => {
        if (work.endsPush) change.after = mend(change.after, { now: times.certain, hasLapsed: false })
        else requireIntact(change.after)
        return work.visit(found, forward(change.after, times))
      }
      outcomes.set(work, { change, result: attempt(visit) })
    }
  }
  return { outcomes, changes: [...changes.values()].filter(isChanged) }
}

const NONE: Outcome = { change: null, result: { value: null } }

function secretsOf({ secrets }: BatchRead, id: number): SealedSecrets {
  const found = secrets.get(id)
  if (found === undefined) throw new DamageError(`push ${id}`, 'server')
  return found
}

function attempt(visit: () => unknown): Outcome['result'] {
  try {
    return { value: visit() }
  } catch (cause) {
    return { cause }
  }
}

function keyOf(lookup: Uint8Array): string {
  return Buffer.from(lookup.buffer, lookup.byteOffset, lookup.byteLength).toString('latin1')
}
