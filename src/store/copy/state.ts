// What `oncebox copy` has written down at either end, in the row of the instance: by it a start knows what may not be served.

import { printableLine } from '../../domain/printable.ts'
import { statement } from '../statements.ts'
import { first, run, type Step } from '../steps.ts'

/** A complete target has arrived until its source was left, and is ready then. */
export type CopyProgress = 'arrived' | 'ready' | 'left'

/** `mark` is the same at both ends of one copy; `other` names the other end. */
export type CopyState = { state: CopyProgress; mark: string; other: string }

const READ = statement<CopyState | { state: null }>(
  'SELECT copy_state AS state, copy_mark AS mark, copy_other AS other FROM instance',
)
const WRITE = statement('UPDATE instance SET copy_state = $1, copy_mark = $2, copy_other = $3')

/** Null where nothing was ever copied from or to. */
export function* readCopyState(): Step<CopyState | null> {
  const found = yield* first(READ)
  return found === null || found.state === null ? null : found
}

export function writeCopyState({ state, mark, other }: CopyState): Step<void> {
  return run(WRITE, state, mark, other)
}

/** Why this may not be served, in whole sentences for the operator; null when it may. */
export function explainCopy(found: { state: CopyProgress | null; other: string | null }): string | null {
  const other = printableLine(found.other ?? '')
  if (found.state === 'left')
    return (
      `Everything here was copied to ${other}, and what opens pushes was destroyed here. Serve that one; if it refuses to start, run ` +
      'the same "oncebox copy" again, which completes it.'
    )
  if (found.state !== 'arrived') return null
  return (
    `This is the target of a copy from ${other} that was broken off. Run the same "oncebox copy" again: it completes the copy, or ` +
    'says that this has to be emptied first.'
  )
}
