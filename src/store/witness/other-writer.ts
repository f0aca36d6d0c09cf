// Finds out whether nodes of another database still write what a bucket or a data folder remembers of this one: they serve the
// original of a copy, and need the files.

import { SECOND } from '../../domain/time.ts'
import type { SavedWitness } from './saved-witness.ts'

/**
 * `witness`: null for one that no node of the instance has written. `age`: for how long it has stood there, in milliseconds by the
 * clock of its place; 0 when that is not known.
 */
export type SeenWitness = { witness: SavedWitness | null; age: number }

export type Watching = {
  look: () => Promise<SeenWitness | null>
  /** Whether a process is there that may not have written yet. */
  isTaken?: () => boolean
  /** Whether the process with this id, in hex, serves this database and no other one. */
  isOurs: (node: string) => Promise<boolean>
  /** Whether it was written lately: somebody may bring an old one back, whose node is gone. */
  isFresh: (witness: SavedWitness) => boolean
  /** A node that lives writes at least this often, in milliseconds. */
  writtenEvery: number
  /** Told again and again: milliseconds that are left to wait. */
  onWait: (left: number) => void
  /** Milliseconds between two looks. */
  lookEvery?: number
}

const LOOK_MS = 2 * SECOND

export function createWriterWatch(watching: Watching) {
  const { look, isTaken = () => false, isOurs, isFresh } = watching
  const { writtenEvery, onWait, lookEvery = LOOK_MS } = watching
  let last: SavedWitness | null = null

  /**
   * Waits until a node that lives must have written, unless nothing was written for so long already. Resolves to what another
   * node has written; null when none did. Throws what `look` does.
   */
  async function wait(): Promise<SavedWitness | null> {
    const first = await look()
    last = first?.witness ?? null
    if ((first === null || (last !== null && hasEnded(last))) && !isTaken()) return null
    const until = performance.now() + writtenEvery - (first?.age ?? 0)
    while (performance.now() < until) {
      onWait(until - performance.now())
      await Bun.sleep(Math.min(lookEvery, Math.max(0, until - performance.now())))
      const other = await glance()
      if (other !== null) return other
    }
    return null
  }

  /** The same, as far as it is written already since the last look. */
  async function glance(): Promise<SavedWitness | null> {
    const witness = (await look())?.witness ?? null
    if (witness === null || (last !== null && !isLater(witness, last))) return null
    last = witness
    const isDead = witness.node === null || !isFresh(witness)
    return isDead || (await isOurs(witness.node ?? '')) ? null : witness
  }

  return { wait, glance }
}

/** A node that stopped after all others wrote it, or `after-restore` did. */
function hasEnded({ isFinal, node }: SavedWitness): boolean {
  return isFinal || node === null
}

/** One that somebody brought back, or left there, tells nothing. */
function isLater(one: SavedWitness, other: SavedWitness): boolean {
  return one.beats > other.beats || one.savedAt > other.savedAt
}
