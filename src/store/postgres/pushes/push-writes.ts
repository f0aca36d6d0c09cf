// Writes changes of pushes in one statement, for as many pushes as there are. Pushes whose version is another one than was read
// stay as they are, with all that belongs to them.

import { grantLifetime } from '../../../domain/files.ts'
import type { Session, Statement } from '../engine/database.ts'
import type { Change, End } from './push-changes.ts'
import { type FileRow, readFiles } from './push-rows.ts'
import {
  BEYOND_PROGRESS,
  type DueFile,
  type Endings,
  progressValues,
  WRITE_PROGRESS,
  WRITE_WHOLE,
  wholeValues,
} from './write-statement.ts'

/** `certain` is the time by which files may be removed. */
export type WritesOptions = { certain: number }

/** Within a transaction. Returns the ids of the pushes whose version had not changed. */
export async function writeChanges(
  session: Session,
  changes: readonly Change[],
  options: WritesOptions,
): Promise<Set<number>> {
  const planned = await planChanges(session, changes, options)
  if (planned === null) return new Set()
  const rows = await session.query<{ id: number }>(planned.statement.write, planned.values)
  return new Set(rows.map(({ id }) => id))
}

/** What is needed to write changes. */
export type PlannedChanges = { statement: { write: string; commit: string }; values: unknown[] }

/** A statement that is a transaction by itself, and whose result are the ids of the pushes whose version had not changed. */
export function statementOf({ statement, values }: PlannedChanges, operationId: Uint8Array): Statement {
  return { text: statement.commit, values: [...values, operationId] }
}

/** Null when there are none. Reads the files of pushes that end, which nothing but their end changes. */
export async function planChanges(
  session: Session,
  changes: readonly Change[],
  { certain }: WritesOptions,
): Promise<PlannedChanges | null> {
  if (changes.length === 0) return null
  const sorted = [...changes].sort((one, other) => one.before.id - other.before.id)
  const rows = sorted.map(({ before, after }) => ({ ...after, version: before.version }))
  const changed = { rows, entries: sorted.flatMap((change) => change.entries) }
  if (!sorted.some(isMoreThanProgress)) return { statement: WRITE_PROGRESS, values: progressValues(changed) }
  const endings = await findEndings(session, sorted, certain)
  return { statement: WRITE_WHOLE, values: wholeValues(changed, endings) }
}

function isMoreThanProgress({ before, after, end, grantsEnded }: Change): boolean {
  if (end !== null || grantsEnded !== null) return true
  return BEYOND_PROGRESS.some((name) => before[name] !== after[name])
}

async function findEndings(session: Session, changes: readonly Change[], certain: number): Promise<Endings> {
  return {
    ended: changes.filter(({ end }) => end !== null).map(({ before }) => before.id),
    due: await findDue(session, changes, certain),
    closed: changes
      .filter(({ grantsEnded }) => grantsEnded !== null)
      .map(({ before, grantsEnded }) => ({ id: before.id, at: grantsEnded })),
    certain,
  }
}

async function findDue(session: Session, changes: readonly Change[], certain: number): Promise<DueFile[]> {
  const endOf = new Map<number, End>()
  for (const { before, end } of changes) if (end !== null && before.files > 0) endOf.set(before.id, end)
  if (endOf.size === 0) return []
  const files = await readFiles(session, [...endOf.keys()])
  return files.map((file) => dueOf(file, endOf.get(file.pushId), certain))
}

/** Files are due at once, unless grants of a last view keep them. */
function dueOf({ pushId, fileId, size }: FileRow, end: End | undefined, certain: number): DueFile {
  if (end === undefined || end.keepUntil === null) return { fileId, at: certain, pushId: null, of: pushId }
  return { fileId, at: Math.min(end.now + grantLifetime(size), end.keepUntil), pushId, of: pushId }
}
