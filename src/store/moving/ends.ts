// The two ends of a move, as each engine opens them. Neither is served meanwhile.

import type { MovedAway, MoveState, MovingBucketFolder, MovingReader, MovingWriter } from '../moving-face.ts'

export type SourceEnd = {
  /** A path, or the address of a server without a password. */
  name: string
  /** Reads the source as it was when it was opened, or keeps everybody from changing it. */
  reader: MovingReader
  /** Changes whenever the source was used. */
  mark: string
  /** Says that everything is elsewhere now, durably. Throws `conflict` when the source was used since it was opened. */
  leave(away: MovedAway): Promise<void>
  /** For a move of files alone: where they are from now on, or which folder of a bucket will hold them. Throws `conflict` when the source was used since it was opened. */
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

/** How a target was found. `state` is null for an empty one. */
export type TargetLook = { name: string; state: MoveState | null }

export type OpenTarget = {
  state: MoveState
  /** Removes the rows of an earlier try; files stay. */
  anew: boolean
}

export function sourceInUse(name: string): string {
  return `${name} was used since it was copied. Stop whatever serves it, and run the same command again, which copies everything anew.`
}
