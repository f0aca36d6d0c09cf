// The options and the result of opening a store, the same for every engine.

import type { Keyring } from '../../crypto/keyring.ts'
import type { Doubt, Trusted } from '../../domain/clock.ts'
import type { Job } from '../../domain/job.ts'
import type { Now, Uptime } from '../../domain/time.ts'
import type { SharedState, Store } from '../contract.ts'
import type { DatabaseReport } from '../database-contract.ts'
import type { BucketOptions } from '../s3/bucket.ts'
import type { Alone, Steps } from '../steps.ts'

/** The database of a command, without the operations of the store. */
export type CommandDatabase = {
  steps: Steps
  /** Runs a command's steps alone. Call only on a database that was opened alone. */
  alone: Alone
  close(): Promise<void>
}

export type CommonStoreOptions = {
  dataDir: string
  /** The bucket of the files; null if they are in the data folder. */
  bucket: BucketOptions | null
  /** Bytes of the disk that must stay free: creating is refused below. */
  minFreeSpace: number
  clock: {
    uptime: Uptime
    /** Trusts the clock without a check. */
    accept: boolean
    /** Milliseconds since the last use beyond which a start doubts the clock. */
    maxGap: number
  }
  /** Receives a sentence for the operator. */
  onWarning: (warning: string) => void
  /** Called if a background task fails. The store continues. */
  onError: (cause: unknown) => void
}

/** The caller starts the jobs, and stops them before it closes. */
export type OpenedStore = Store & {
  shared: SharedState
  keyring: Keyring
  now: Now
  clock: {
    trusted: Trusted
    doubt(): Doubt | null
    /** Records that an administrator confirmed the clock. Resolves once that is durable. */
    accept(): Promise<void>
  }
  /** Whether to refuse new requests for now, because too many changes have waited for too long. */
  isOverloaded(): boolean
  /**
   * Commits changes that have waited for too long. Called with every request, because timers of a busy event
   * loop are late.
   */
  commitOverdue(): void
  /** Changes that wait for a commit. */
  waitingChanges(): number
  /** Calls `ring` after each commit of this process that may have added to the outbox, once it is durable. */
  whenQueued(ring: () => void): void
  jobs: readonly Job[]
  /** Call this once the start has succeeded. */
  confirmStart(): void
  /** Whether the database answers. */
  isAlive(): Promise<boolean>
  /** The database server; null when rows are in the data folder. */
  database: DatabaseReport | null
  /** Why the database or the data folder cannot be written to; null when they can. */
  findWriteProblem(): Promise<string | null>
  /** Why the next start could not use the key file; null when it could. */
  findKeyProblem(): Promise<string | null>
  close(): Promise<void>
}
