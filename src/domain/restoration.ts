// Whether a database server gave back an earlier state: what was read, expired or deleted since could be opened again there.
//
// Each heartbeat of a node raises a counter in the database. A witness remembers outside the database how far it was: in the
// memory of a running node, in its data folder, or in the bucket that holds the files. It also remembers the place: after a failover
// the former primary is on an earlier timeline, also where its counter went on.

import { findOvertaking } from './database-place.ts'

/** Beyond this, numbers of JavaScript lose digits after a few steps. No honest counter or time comes near. */
const COUNTS_END = 2 ** 52

/** Whether a counter, or a time in milliseconds, can be what a node has written. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < COUNTS_END
}

/** What was acknowledged to a node. */
export type Witness = {
  /** Names the instance. Copies of its database have the same. */
  tag: string
  beats: number
  /** Milliseconds since 1970 of the last `after-restore`; 0 without one. */
  restoredAt: number
  /** Where the database was; null when that is not known. */
  place: string | null
  /** The ids of the last transactions that were acknowledged, in hex: their rows must be there. */
  operations: readonly string[]
  /** Whether this node was the last one that served, and has stopped in order: nothing was acknowledged later. */
  isFinal: boolean
}

/** What the database says now. */
export type Found = {
  tag: string
  beats: number
  restoredAt: number
  /** Where it was when it was last served; null when it never was. */
  place: string | null
  /** Where it is. Failovers, restores and copies have other places. */
  here: string
  /** The ids of transactions whose rows are there, among those that were asked for. */
  operations: ReadonlySet<string>
}

export type Judgement =
  | { is: 'intact' }
  /** It belongs to another instance than the witness. */
  | { is: 'foreign' }
  /** It is an earlier state; `why` is a whole sentence. */
  | { is: 'restored'; why: string }
  /** It is elsewhere, and nothing proves that it is no earlier state. */
  | { is: 'moved'; why: string }

/**
 * `isRunning`: the witness is the memory of a running node, which nothing was acknowledged to since. Then a database that
 * holds all of it may be anywhere: that is a failover.
 */
export function judgeState(
  found: Found,
  witnesses: readonly Witness[],
  { isRunning }: { isRunning: boolean },
): Judgement {
  if (witnesses.some(({ tag }) => tag !== found.tag)) return { is: 'foreign' }
  if (!isCount(found.beats) || !isCount(found.restoredAt)) return { is: 'restored', why: UNCOUNTABLE }
  for (const witness of witnesses) {
    const why = findContradiction(found, witness)
    if (why !== null) return { is: 'restored', why }
  }
  const hasMoved = found.place !== null && found.place !== found.here
  const isProven = isRunning || witnesses.some((witness) => isLast(found, witness))
  return hasMoved && !isProven ? { is: 'moved', why: MOVED } : { is: 'intact' }
}

const UNCOUNTABLE =
  'The counters of the database, by which an earlier state is noticed, are damaged: no node has written such numbers.'

const MOVED =
  'The database is at another place than where it was last served (a restored copy, or a standby that took over), and no node ' +
  'that stopped after everybody else can tell whether anything is missing.'

/** Why the server is not the one that was served last: a whole sentence; null when no witness knows of a later one. */
export function findNewerPlace(found: Found, witnesses: readonly Witness[]): string | null {
  for (const { tag, restoredAt, place } of witnesses) {
    if (tag !== found.tag || restoredAt < found.restoredAt) continue
    const overtaking = findOvertaking({ here: found.here, known: place })
    if (overtaking !== null) return leftBehind(overtaking)
  }
  return null
}

/** Null when the database holds what the witness remembers, as far as that can be told. */
function findContradiction(found: Found, witness: Witness): string | null {
  const { beats, restoredAt, operations } = witness
  // Written before an `after-restore` that the database has seen.
  if (restoredAt < found.restoredAt) return null
  if (restoredAt > found.restoredAt) return 'The database is older than its last "oncebox after-restore".'
  const newer = findNewerPlace(found, [witness])
  if (newer !== null) return newer
  if (beats > found.beats)
    return `The database is at an earlier state: its counter is ${found.beats}, and was ${beats} already.`
  return operations.every((id) => found.operations.has(id))
    ? null
    : 'The database is at an earlier state: a change that it had acknowledged is missing.'
}

function leftBehind({ here, known }: { here: number; known: number }): string {
  return (
    `The database is on timeline ${here} of its server, and was served on timeline ${known} already: a failover left this server ` +
    'behind, or it was set back. Name the server that took over in --database-url, and stop this one.'
  )
}

function isLast(found: Found, { beats, restoredAt, isFinal }: Witness): boolean {
  return restoredAt === found.restoredAt && beats === found.beats && isFinal
}

/** The counters with which a database goes on after `after-restore`: nothing that was remembered before it contradicts them. */
export function countersAfterRestore(
  now: number,
  known: readonly Pick<Witness, 'beats' | 'restoredAt'>[],
): Pick<Witness, 'beats' | 'restoredAt'> {
  const beyond = (of: 'beats' | 'restoredAt') =>
    known.map((counters) => counters[of] + 1).filter((next) => isCount(next))
  return { beats: Math.max(1, ...beyond('beats')), restoredAt: Math.max(now, ...beyond('restoredAt')) }
}

/** What an operator does about it. */
export const RESTORATION_REMEDY =
  'What was read, expired or deleted since could be opened again, so nothing is served. If no better copy of the database ' +
  'exists, run "oncebox after-restore", which expires every push.'
