// Copies everything from one store to an empty one: the files, and all rows in one transaction. Marks the
// source as copied just before that transaction commits, so that both ends can never be served. The caller
// chooses the engines of the two ends.

import { conflict } from '../../domain/errors.ts'
import { reasonOf } from '../../domain/system-errors.ts'
import {
  explainCopy,
  type Keys,
  listKnownKeys,
  readCopiedTo,
  requireKeys,
  writeCopiedTo,
} from '../instance.ts'
import { type Alone, all, type Run, type Statement, type Step } from '../steps.ts'
import { copyFiles, copyRows, findPlaces, type OnCopyProgress, type PlacesOptions } from './content.ts'

/** One end of a copy, open for this process only. */
export type CopyEnd = {
  /** The name for messages. */
  name: string
  /** Throws unless this process has the end to itself. */
  alone: Alone
  /**
   * Selects the last id that each numbered table has used, including those of removed rows: ids are never
   * reused.
   */
  lastIds: Statement<LastId>
  /** Continues the ids of all tables after the existing rows and after these ids. */
  continueAfter(ids: readonly LastId[]): Step<void>
  close(): Promise<void>
}

export type LastId = { table: string; last: number }

type CopyOptions = PlacesOptions & {
  from: CopyEnd
  to: CopyEnd
  /** The keys of the source. */
  keys: Keys
  now: number
  onProgress: OnCopyProgress
}

/** The number of rows of each table, and of `files`. */
export type Counts = Record<string, number>

/**
 * Copies everything. Throws `conflict`, and says whether the source may be served. May be repeated after a
 * kill: a source that is marked may be copied again to the same target, if that is still empty.
 */
export async function copyStore(options: CopyOptions): Promise<Counts> {
  const { from, to } = options
  let isMarked = false
  try {
    return await to.alone(async (write) => {
      const counts = await from.alone((read) => copyAll(read, write, options))
      isMarked = true
      return counts
    })
  } catch (cause) {
    const then = isMarked
      ? `${from.name} is marked as copied: run the same command again, or serve ${to.name} if it is no longer empty.`
      : `${from.name} is as it was.`
    throw conflict(`${reasonOf(cause).replace(/\.?$/, '.')} ${then}`)
  }
}

/**
 * Copies everything and marks the source as copied. The commit of the transaction that `read` uses makes the
 * mark durable.
 */
async function copyAll(read: Run, write: Run, options: CopyOptions): Promise<Counts> {
  const { from, to, keys } = options
  const copiedTo = await read(readCopiedTo())
  if (copiedTo !== null && copiedTo !== to.name)
    throw conflict(`${from.name} cannot be copied. ${explainCopy(copiedTo)}`)
  await read(requireKeys(keys))
  await requireEmpty(write, to.name, copiedTo)
  const copying = { ...options, places: await findPlaces(read, options) }
  const files = await copyFiles(read, copying)
  const rows = await copyRows(read, write, copying)
  await write(to.continueAfter(await read(all(from.lastIds))))
  await read(writeCopiedTo(to.name))
  return { ...rows, files }
}

/** Throws `conflict` unless the target is empty. Any store that was used has a key. */
async function requireEmpty(write: Run, name: string, copiedTo: string | null): Promise<void> {
  if ((await write(listKnownKeys())).length === 0) return
  throw conflict(
    copiedTo === null
      ? `${name} is not empty: name an empty one.`
      : `${name} is not empty: everything was copied to it already. Serve it.`,
  )
}
