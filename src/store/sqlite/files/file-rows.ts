// Rows for the files of each push, and rows for files that are due for removal, which make scans of the folder unnecessary.

import {
  and,
  asc,
  count,
  countDistinct,
  desc,
  eq,
  gt,
  inArray,
  isNotNull,
  isNull,
  lte,
  ne,
  sql,
} from 'drizzle-orm'
import { grantLifetime } from '../../../domain/files.ts'
import type { Now } from '../../../domain/time.ts'
import { HELD_LOOKS } from '../../files/bucket-folder.ts'
import type { Connection } from '../engine/database.ts'
import { given, placeholdersOf } from '../engine/placeholders.ts'
import { filesDue, pushFiles } from '../engine/schema.ts'

export type FileRow = typeof pushFiles.$inferSelect

/** When the files of a push become due: at once, or when the grants of its last view end, at most until the given time. */
export type Release = { pushId: number; now: number; when: 'at-once' | { afterGrantsUntil: number } }

export type FileRows = ReturnType<typeof createFileRows>

const STEP = 100
/** Stands for a push in the row of a file whose grants have ended, but which could not be removed. No push has this id. */
const NO_PUSH = 0

type Options = {
  /** The time by which files are removed. */
  certain: Now
  onDue: () => void
}

export function createFileRows({ orm }: Connection, { certain, onDue }: Options) {
  const pushId = sql.placeholder('pushId')
  const isGranted = and(eq(filesDue.pushId, pushId), gt(filesDue.at, sql.placeholder('now')))
  const insertFile = orm.insert(pushFiles).values(placeholdersOf(pushFiles)).prepare()
  const ofPush = orm
    .select()
    .from(pushFiles)
    .where(eq(pushFiles.pushId, pushId))
    .orderBy(asc(pushFiles.n))
    .prepare()
  const deleteOfPush = orm.delete(pushFiles).where(eq(pushFiles.pushId, pushId)).prepare()
  const insertDue = orm.insert(filesDue).values(placeholdersOf(filesDue)).prepare()
  const deleteDue = orm
    .delete(filesDue)
    .where(eq(filesDue.id, sql.placeholder('id')))
    .prepare()
  const granted = orm.select({ id: filesDue.id }).from(filesDue).where(isGranted).limit(1).prepare()
  const unnamed = orm
    .select({ id: filesDue.id })
    .from(filesDue)
    .where(and(isNull(filesDue.pushId), gt(filesDue.at, sql.placeholder('now'))))
    .limit(1)
    .prepare()
  const endGranted = orm
    .update(filesDue)
    .set({ at: given('at'), pushId: null })
    .where(isGranted)
    .prepare()
  const due = orm
    .select({ id: filesDue.id })
    .from(filesDue)
    .where(and(isNotNull(filesDue.at), lte(filesDue.at, sql.placeholder('until'))))
    .orderBy(asc(filesDue.at))
    .limit(STEP)
    .prepare()

  const next = orm
    .select({ at: filesDue.at })
    .from(filesDue)
    .where(isNotNull(filesDue.at))
    .orderBy(asc(filesDue.at))
    .limit(1)
    .prepare()

  /** Inserts the row of an upload, before its first byte is written. A row without a time of removal is unfinished. */
  function begin(id: string): void {
    insertDue.run({ id, at: null, pushId: null })
  }

  /** Gives the files to a push, so that they are not due any more. */
  function attach(files: FileRow[]): void {
    for (const file of files) {
      insertFile.run(file)
      deleteDue.run({ id: file.fileId })
    }
  }

  /** Deletes the rows of a push's files, with their names, and makes the files due. */
  function release({ pushId, now, when }: Release): void {
    for (const { fileId: id, size } of ofPush.all({ pushId })) {
      if (when === 'at-once') insertDue.run({ id, at: certain(), pushId: null })
      else insertDue.run({ id, at: Math.min(now + grantLifetime(size), when.afterGrantsUntil), pushId })
    }
    deleteOfPush.run({ pushId })
    onDue()
  }

  /** Makes files that a last view kept for its grants due at once. */
  function endGrants({ pushId, now }: { pushId: number; now: number }): void {
    endGranted.run({ pushId, now, at: certain() })
    onDue()
  }

  /** Makes the file of an abandoned upload due. */
  function giveUp({ id, now }: { id: string; now: number }): void {
    orm.update(filesDue).set({ at: now }).where(eq(filesDue.id, id)).run()
    onDue()
  }

  /** Call this at start, when nobody uploads: every unfinished file becomes due. */
  function giveUpUnfinished(now: number): void {
    orm.update(filesDue).set({ at: now }).where(isNull(filesDue.at)).run()
  }

  /** Looks again later for a file that could not be removed. */
  function postpone({ id, at }: { id: string; at: number }): void {
    orm.update(filesDue).set({ at, pushId: NO_PUSH }).where(eq(filesDue.id, id)).run()
  }

  /** Of these ids, those that belong to a push or are due. */
  function findKnown(ids: readonly string[]): ReadonlySet<string> {
    const kept = orm
      .select({ id: pushFiles.fileId })
      .from(pushFiles)
      .where(inArray(pushFiles.fileId, [...ids]))
    const waiting = orm
      .select({ id: filesDue.id })
      .from(filesDue)
      .where(inArray(filesDue.id, [...ids]))
    return new Set([...kept.all(), ...waiting.all()].map(({ id }) => id))
  }

  /** Of these ids, those of uploads that are not finished. */
  function findUnfinished(ids: readonly string[]): ReadonlySet<string> {
    const unfinished = and(inArray(filesDue.id, [...ids]), isNull(filesDue.at))
    const found = orm.select({ id: filesDue.id }).from(filesDue).where(unfinished).all()
    return new Set(found.map(({ id }) => id))
  }

  /** How many files live pushes have, and how many can be downloaded after a last view. */
  function countHeld(now: number): { pushes: number; granted: number } {
    const held = orm
      .select({ n: countDistinct(pushFiles.pushId) })
      .from(pushFiles)
      .get()
    const later = orm.select({ n: count() }).from(filesDue).where(isGrantedAt(now)).get()
    return { pushes: held?.n ?? 0, granted: later?.n ?? 0 }
  }

  /** Some of the files that live pushes have, the latest first, or that can be downloaded after a last view. */
  function listHeld(now: number): string[] {
    const latest = orm.select({ id: pushFiles.fileId }).from(pushFiles)
    const granted = orm.select({ id: filesDue.id }).from(filesDue).where(isGrantedAt(now))
    const found = [
      ...latest.orderBy(desc(pushFiles.pushId)).limit(HELD_LOOKS).all(),
      ...granted.limit(HELD_LOOKS).all(),
    ]
    return found.map(({ id }) => id).slice(0, HELD_LOOKS)
  }

  return {
    begin,
    attach,
    release,
    endGrants,
    /** Whether grants of a last view are still valid. */
    hasGranted: (pushId: number, now: number): boolean => granted.get({ pushId, now }) !== undefined,
    /** Whether files of an unnamed push wait for the end of their grants. Older versions did not store the push. */
    hasUnnamedGrants: (now: number): boolean => unnamed.get({ now }) !== undefined,
    giveUp,
    giveUpUnfinished,
    postpone,
    findKnown,
    findUnfinished,
    countHeld,
    listHeld,
    forgetAll: (): void => void orm.delete(filesDue).run(),
    listAll: (): string[] =>
      orm
        .select({ id: filesDue.id })
        .from(filesDue)
        .all()
        .map(({ id }) => id),
    listOfPush: (id: number): FileRow[] => ofPush.all({ pushId: id }),
    listDue: (until: number): string[] => due.all({ until }).map(({ id }) => id),
    /** When the next file is due, perhaps in the past; null when none is. */
    findNextDue: (): number | null => next.get()?.at ?? null,
    forget: (id: string): void => void deleteDue.run({ id }),
  }
}

/** Files that wait for the end of their grants, and not for a removal that failed. */
function isGrantedAt(now: number) {
  return and(gt(filesDue.at, now), ne(filesDue.pushId, NO_PUSH))
}
