// What opening a store takes, whichever engine keeps the rows.

import type { Uptime } from '../../domain/time.ts'
import type { BucketOptions } from '../s3/bucket.ts'

export type CommonStoreOptions = {
  dataDir: string
  /** Where the files are; null for the data folder. */
  bucket: BucketOptions | null
  /** Bytes of the disk that must stay free: creating is refused below. */
  minFreeSpace: number
  clock: CommonClockOptions
  /** Is given a sentence for the operator. */
  onWarning: (warning: string) => void
  /** Something failed in the background; the store goes on. */
  onError: (cause: unknown) => void
}

export type CommonClockOptions = {
  uptime: Uptime
  /** Accepts the clock, whatever it says. */
  accept: boolean
  /** Milliseconds since the last use beyond which a start doubts the clock. */
  maxGap: number
}
