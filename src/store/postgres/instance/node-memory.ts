// What a node that serves remembers of its database: how far it was, and the last changes that it acknowledged to this node. A
// database that is not as far any more, or lacks one of these changes, was set back.

import { isCount, type Witness } from '../../../domain/restoration.ts'
import { MINUTE } from '../../../domain/time.ts'
import type { InstanceState } from './instance.ts'

export type NodeMemory = ReturnType<typeof createNodeMemory>

export type NodeMemoryOptions = {
  /** As the opening found the instance. */
  state: InstanceState
  /** Milliseconds of a clock that only goes on. */
  elapsed: () => number
}

/** Operations that ended at about the same time may have become durable in another order. */
const MAX_REMEMBERED = 64
/** Rows of operations are kept for longer than this. */
const REMEMBERED_MS = 30 * MINUTE

export function createNodeMemory({ state, elapsed }: NodeMemoryOptions) {
  let known = { tag: state.tag, beats: state.beats, restoredAt: state.restoredAt, place: state.here }
  const acknowledged: { id: Uint8Array; at: number }[] = []
  let next = 0

  /** Remembers a change that was acknowledged; the oldest one is forgotten. */
  function remember(id: Uint8Array): void {
    acknowledged[next] = { id, at: elapsed() }
    next = (next + 1) % MAX_REMEMBERED
  }

  function witness(): Witness {
    const oldest = elapsed() - REMEMBERED_MS
    const young = acknowledged.filter(({ at }) => at > oldest)
    const operations = young.map(({ id }) => Buffer.from(id).toString('hex'))
    return { ...known, operations, isFinal: false }
  }

  /** Takes over how far the database is now, and where. */
  function advance({ beats, here = known.place }: { beats: number; here?: string }): void {
    known = { ...known, beats: Math.max(known.beats, beats), place: here }
  }

  /** Whether `after-restore` has run on the database since this node last saw it. */
  function isResumed({ tag, restoredAt }: InstanceState): boolean {
    return tag === known.tag && isCount(restoredAt) && restoredAt > known.restoredAt
  }

  /** Begins anew after `after-restore`: it expired every push, so nothing from before matters. */
  function resume({ beats, restoredAt, here }: InstanceState): void {
    known = { ...known, beats, restoredAt, place: here }
    acknowledged.length = 0
    next = 0
  }

  return { remember, witness, advance, isResumed, resume }
}
