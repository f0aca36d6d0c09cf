// What happens to pushes, gathered in memory: several visits to one push make one change of its row.

import type { Step } from '../../../domain/visits.ts'
import { appendEntry, type EntryRow } from './push-log.ts'
import type { PushRow } from './stored-push.ts'

/** A row as it was read, and all that happened to it since. */
export type Change = {
  readonly before: PushRow
  after: PushRow
  entries: EntryRow[]
  /** Set when the push ends: its secrets are destroyed. */
  end: End | null
  /** When grants of a last view, which were there before this change, were ended; null if not. */
  grantsEnded: number | null
}

/** The files of a last view are kept for its grants, at most until `keepUntil`; null makes them due at once. */
export type End = { now: number; keepUntil: number | null }

export function changeOf(before: PushRow): Change {
  return { before, after: before, entries: [], end: null, grantsEnded: null }
}

export function isChanged({ before, after }: Change): boolean {
  return before !== after
}

/** Adds what happened next, and returns the push as it is then. */
export function addStep(change: Change, { after, now, entry }: Step<PushRow>): PushRow {
  const { after: before } = change
  change.after = entry === null ? { ...after } : appendTo(change, after, { ...entry, at: now })
  const isLastView = entry?.kind === 'view'
  if (before.expiredOn === null && after.expiredOn !== null)
    change.end = { now, keepUntil: isLastView ? after.expiresAt : null }
  else if (before.deleted !== after.deleted) endGrants(change, now)
  return change.after
}

function appendTo(change: Change, after: PushRow, entry: Parameters<typeof appendEntry>[1]): PushRow {
  const { push, row } = appendEntry(after, entry)
  if (row !== null) change.entries.push(row)
  return push
}

function endGrants(change: Change, now: number): void {
  if (change.end === null) change.grantsEnded = now
  else change.end = { ...change.end, keepUntil: null }
}
