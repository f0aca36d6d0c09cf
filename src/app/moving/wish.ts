// What a move is asked to do, and what it tells.

import type { DatabaseAddress } from '../../domain/database-address.ts'
import type { Now } from '../../domain/time.ts'
import type { BucketSettings } from '../../settings/bucket.ts'
import type { MovingCounts } from '../../store/moving-face.ts'
import type { Compared } from './compare.ts'

export type MovePlace = { kind: 'folder'; path: string } | { kind: 'postgres'; address: DatabaseAddress }

export type MoveWish = {
  from: MovePlace
  to: MovePlace
  /** The bucket where the files are, and the one where they go; null for a disk. */
  fromBucket: BucketSettings | null
  toBucket: BucketSettings | null
  /** The data folders of nodes whose rows PostgreSQL keeps, where their files are on a disk. */
  fromDataDir: string | null
  toDataDir: string | null
  /** The key file of the source; null for the one of the target, or the one in the data folder. */
  fromKeyFile: string | null
  /** The key file of the target; null for the one in the data folder. */
  keyFile: string | null
  mode: 'move' | 'dry-run' | 'confirm'
  /** Leaves damaged rows out; otherwise they stop the move. */
  skipDamaged: boolean
  /** Destroys what the source holds, once the move is confirmed. */
  destroySource: boolean
}

export type MovePorts = {
  now: Now
  /** Warnings. */
  say: (line: string) => void
  /** Told often. */
  onProgress: (step: MoveStep, done: number, total: number) => void
  /** Asks whether the source is to be left for good. False leaves it as it is. */
  confirm: (report: MoveReport) => Promise<boolean>
  /** Asks whether what the source holds is to be destroyed for ever; the move is done. False leaves it as it is. */
  confirmDestruction: (report: MoveReport) => Promise<boolean>
  /** Called after everything that is made durable: tests end the process there. */
  onStep: (step: string) => void
}

/** As a command gives them. */
export type GivenPorts = Omit<MovePorts, 'onStep'> & Partial<Pick<MovePorts, 'onStep'>>

/** The first three count pushes, the last bytes. */
export type MoveStep = 'reading' | 'copying' | 'comparing' | 'files'

export type MoveReport = {
  /** `planned`: nothing was done. `copied`: the source still works. `moved`: it does not any more. */
  state: 'planned' | 'copied' | 'moved'
  from: string
  to: string
  counts: MovingCounts
  /** Null when nothing was compared. */
  compared: Compared | null
  /** What was copied of the files; null when they stay where they are. */
  files: { count: number; bytes: number } | null
  /** Where the instance key lies after the move. */
  keyFile: string | null
  /** Places of rows that are damaged in the source, and were left out or would be. */
  damaged: string[]
  /** What a move would need that was not given; a sentence each. */
  needs: string[]
  isDestroyed: boolean
}
