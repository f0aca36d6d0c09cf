// Copies everything of one store to an empty one: the files, then all rows in one transaction; only then the source is left. Which
// engines the two ends have is settled elsewhere.

import { randomBase32 } from '../../crypto/random.ts'
import { conflict } from '../../domain/errors.ts'
import { printableLine } from '../../domain/printable.ts'
import { reasonOf } from '../../domain/system-errors.ts'
import {
  explainCopy,
  type Keys,
  listKnownKeys,
  readCopyState,
  requireKeys,
  writeCopyState,
} from '../every-engine/instance.ts'
import { type Alone, all, type Run, type Statement, type Step } from '../steps.ts'
import { copyFiles, copyRows, destroy, findPlaces, type OnProgress, type PlacesOptions } from './content.ts'

/** One end of a copy, which nobody else uses until it is closed. */
export type CopyEnd = {
  /** For people. */
  name: string
  /** How to empty it, to continue a sentence. */
  emptying: string
  /** Throws unless this process has the end to itself. */
  alone: Alone
  /** The last id that each of these tables gave out, removed rows included: none is ever used again. */
  lastIds: Statement<LastId>
  /** Lets new rows of all tables come after those that are there, and after these ids. */
  continueAfter(ids: readonly LastId[]): Step<void>
  close(): Promise<void>
}

export type LastId = { table: string; last: number }

export type CopyOptions = PlacesOptions & {
  from: CopyEnd
  /** `isCopied`: everything is there already, so that nothing has to be made. */
  openTarget(isCopied: boolean): Promise<CopyEnd>
  /** Of the source. */
  keys: Keys
  now: number
  onProgress: OnProgress
}

/** The number of rows of each table, and of `files`. Null when an earlier run had copied everything. */
export type Copied = { from: string; to: string; counts: Record<string, number> | null }

const MARK_CHARACTERS = 26

/** Throws `conflict`, saying what became of the source, and what to do. Killed at any moment, the next run says so as well. */
export async function copyStore(options: CopyOptions): Promise<Copied> {
  const { from, openTarget } = options
  let next = ''
  const onArrived = () => {
    next = 'Run the same command again: it completes the copy, or says what to do.'
  }
  const leaving = from.alone((read) => leave(read, { ...options, onArrived }))
  const left = await leaving.catch((cause) => Promise.reject(next === '' ? cause : added(cause, next)))
  const other = printableLine(left.other)
  try {
    const to = await openTarget(true)
    await to.alone((write) => complete(write, left.mark)).finally(to.close)
  } catch (cause) {
    throw added(
      cause,
      `${from.name} was copied to ${other}: run the command for that one again, which completes it.`,
    )
  }
  return { from: from.name, to: other, counts: left.counts }
}

const added = (cause: unknown, more: string) => conflict(`${reasonOf(cause).replace(/\.?$/, '.')} ${more}`)

type Copying = CopyOptions & { onArrived: () => void }
type Left = { mark: string; other: string; counts: Copied['counts'] }

/** Within a transaction of the source, whose commit leaves it. Copies nothing if it was left already. */
async function leave(read: Run, options: Copying): Promise<Left> {
  const { from, openTarget, keys } = options
  const found = await read(readCopyState())
  if (found?.state === 'left') return { ...found, counts: null }
  const why = found && explainCopy(found)
  if (why) throw conflict(`${from.name} cannot be copied. ${why}`)
  await read(requireKeys(keys))
  const to = await openTarget(false)
  try {
    const mark = randomBase32(MARK_CHARACTERS)
    const counts = await copyAll(read, to, { ...options, mark })
    await read(destroy())
    await read(writeCopyState({ state: 'left', mark, other: to.name }))
    return { mark, other: to.name, counts }
  } catch (cause) {
    throw added(cause, `Nothing was destroyed: ${from.name} is as it was, and can be served as before.`)
  } finally {
    await to.close()
  }
}

async function copyAll(read: Run, to: CopyEnd, options: Copying & { mark: string }) {
  const { from, mark } = options
  await to.alone((write) => requireEmpty(write, to))
  const copying = { ...options, places: await findPlaces(read, options) }
  const files = await copyFiles(read, copying)
  const rows = await to.alone(async (write) => {
    await requireEmpty(write, to)
    const copied = await copyRows(read, write, copying)
    await write(to.continueAfter(await read(all(from.lastIds))))
    await write(writeCopyState({ state: 'arrived', mark, other: from.name }))
    return copied
  })
  options.onArrived()
  return { ...rows, files }
}

async function requireEmpty(write: Run, to: CopyEnd): Promise<void> {
  if ((await write(readCopyState()))?.state === 'arrived')
    throw conflict(
      `${to.name} holds a copy that was broken off: empty it (${to.emptying}), and run this again.`,
    )
  // The first use writes a key down.
  if ((await write(listKnownKeys())).length > 0) throw conflict(`${to.name} is not empty: name an empty one.`)
}

async function complete(write: Run, mark: string): Promise<void> {
  const found = await write(readCopyState())
  if (found?.mark !== mark) throw conflict('This is not the target of the copy.')
  await write(writeCopyState({ ...found, state: 'ready' }))
}
