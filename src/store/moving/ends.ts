// The two ends of a move, and the places where they are, as each engine opens them.

import type { MovedAway, MoveState, MovingBucketFolder, MovingReader, MovingWriter } from '../moving-face.ts'

/** A place where a store is, or may be. Nobody serves it while it is moved. */
export type MovingPlace = {
  /** A path, or the address of a server without a password. */
  name: string
  /** Null unless everything was moved away from there. */
  findMovedAway(): Promise<MovedAway | null>
  /**
   * The id of the move that brought everything here and was confirmed; null when none was, and when everything went on to another
   * place. The rows themselves say it, so a store that was set back to before the confirmation does not.
   */
  findArrived(): Promise<string | null>
  /**
   * Throws `conflict` while it is served, and for a store that may not be read or has another version. `away`: null, or the mark of
   * a store that was left already, whose target has to be brought everything again.
   */
  openSource(away: MovedAway | null): Promise<SourceEnd>
  /** Changes nothing. Throws `conflict` unless it is empty (null), or the end of a move that is not confirmed. */
  lookAtTarget(): Promise<MoveState | null>
  /** Makes what is missing. Throws `conflict` when it is not as `lookAtTarget` found it. */
  openTarget(how: OpenTarget): Promise<TargetEnd>
  /** Reads it, also while it is served. */
  reading<T>(work: (reader: MovingReader) => Promise<T>): Promise<T>
  /** The tag of a database of PostgreSQL, by which the folders of its nodes know it; null without tables, and for a folder. */
  findTag(): Promise<string | null>
  /** Says in a store that was left that its target was confirmed. */
  settle(id: string): Promise<void>
  /** The folder of files in a bucket of a store that was moved away; null for none. */
  findFormerFolder(): Promise<MovingBucketFolder | null>
  /**
   * Destroys what a store holds that was moved away by this move. Its mark stays, and what of its folder is to be kept: the key file
   * and the files, which the target may use. Throws `conflict` when the store says anything else.
   */
  destroy(how: { id: string; keepKey: boolean; keepFiles: boolean }): Promise<void>
}

export type SourceEnd = {
  name: string
  /** Reads the source as it was when it was opened, or keeps everybody from changing it. */
  reader: MovingReader
  /** Changes whenever the source was used. */
  mark: string
  /** Says that everything is elsewhere now, durably. Throws `conflict` when the source was used since it was opened. */
  leave(away: MovedAway): Promise<void>
  /**
   * For a move of files alone: where they are from now on, or which folder of a bucket will hold them. Throws `conflict` when the
   * source was used since it was opened.
   */
  settleFiles(folder: MovingBucketFolder): Promise<void>
  close(): Promise<void>
}

export type TargetEnd = {
  name: string
  reader: MovingReader
  writer: MovingWriter
  writeState(state: MoveState): Promise<void>
  /** The end of the move, once its state is `copied`: the target can be served, and says in its rows what came. */
  confirm(): Promise<void>
  close(): Promise<void>
}

export type OpenTarget = {
  /** As `lookAtTarget` found it. */
  found: MoveState | null
  state: MoveState
  /** Removes the rows of an earlier try; files stay. */
  anew: boolean
}

/** For a target that is not any more as it was found. */
export function targetChanged(name: string): string {
  return `${name} was used since this move looked at it. Nothing was changed there: run the same command again.`
}

/** For a source whose mark is not that of this move. */
export function notLeft(name: string): string {
  return (
    `${name} does not say any more that this move left it: it was set back, or moved again. Nothing in it was destroyed. See which ` +
    'of the two places is served.'
  )
}

export function sourceInUse(name: string): string {
  return `${name} was used since it was copied. Stop whatever serves it, and run the same command again, which copies everything anew.`
}
