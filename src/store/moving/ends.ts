// The two ends of a move, and the places where they are, as each engine opens them.

import type { MovedAway, MoveState, MovingBucketFolder, MovingReader, MovingWriter } from '../moving-face.ts'

/** A place where a store is, or may be. Nobody serves it while it is moved. */
export type MovingPlace = {
  /** A path, or the address of a server without a password. */
  name: string
  /** Null unless everything was moved away from there. */
  findMovedAway(): Promise<MovedAway | null>
  /** How far a move into it has come; null when none is under way. */
  findState(): Promise<MoveState | null>
  /** Throws `conflict` while it is served, and for a store that may not be read or has another version. */
  openSource(): Promise<SourceEnd>
  /** Changes nothing. Throws `conflict` unless it is empty (null), or the end of a move that is not confirmed. */
  lookAtTarget(): Promise<MoveState | null>
  /** Makes what is missing. */
  openTarget(how: OpenTarget): Promise<TargetEnd>
  /** Whether it has data that can be served. */
  isFilled(): Promise<boolean>
  /** The tag of a database of PostgreSQL, by which the folders of its nodes know it; null without tables, and for a folder. */
  findTag(): Promise<string | null>
  /** The folder of files in a bucket that a store had which was moved away; null for none. */
  findFormerFolder(): Promise<MovingBucketFolder | null>
  /**
   * Destroys what a store holds that was moved away. Its mark stays, and what of its folder is to be kept: the key file and the
   * files, which the target may use.
   */
  destroy(how: { keepKey: boolean; keepFiles: boolean }): Promise<void>
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
  /** The end of the move: the target can be served. */
  confirm(): Promise<void>
  close(): Promise<void>
}

export type OpenTarget = {
  state: MoveState
  /** Removes the rows of an earlier try; files stay. */
  anew: boolean
}

export function sourceInUse(name: string): string {
  return `${name} was used since it was copied. Stop whatever serves it, and run the same command again, which copies everything anew.`
}
