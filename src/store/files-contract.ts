// The contract of a store of sealed files: it keeps sealed bytes under ids that the services choose.

/**
 * Sealed files. An id is never written twice. The services seal the content, and store names and types
 * elsewhere.
 */
export type SealedFiles = {
  /**
   * Writes a file as its bytes arrive. The file exists, and is durable, once the promise resolves. After a
   * failure call `remove`. Throws `disk_full`, and whatever `bytes` throws. All operations may throw
   * `files_unreachable`.
   */
  put(id: string, bytes: AsyncIterable<Uint8Array>): Promise<void>
  /** Returns null if the file does not exist any more. */
  open(id: string): Promise<OpenedFile | null>
  /** Whether the file is there and as long as `size` plain bytes are when sealed. */
  has(file: { id: string; size: number }): Promise<boolean>
  /** Removes a complete or unfinished file. Does nothing if there is none. */
  remove(id: string): Promise<void>
}

/** The state of the bucket that holds the files, for the operator. */
export type BucketReport = {
  /** The bucket and its server. */
  name: string
  /**
   * Why it cannot be used at present, to continue a sentence about the bucket; null when it can. Never takes
   * long.
   */
  findProblem(): Promise<string | null>
  /** Whether it refused the last file for want of room. */
  isFull(): boolean
  /** Counts the requests to the bucket since the start, by outcome. */
  countRequests(): Readonly<Record<'ok' | 'retried' | 'missing' | 'failed', number>>
}

/** A file that is open for reading, until `close`. On a disk it can still be read after it was removed. */
export type OpenedFile = {
  /** The size in sealed bytes. */
  size: number
  /** Reads sealed bytes from `start`; fewer than `length` if the file ends earlier. */
  read(span: { start: number; length: number }): Promise<Uint8Array>
  close(): Promise<void>
}

/**
 * Files, each with a record of its push. Until a push takes it, a file is an unfinished upload. Files without
 * a push or upload are due for removal; at a start, all unfinished uploads become due.
 */
export type FileStore = Pick<SealedFiles, 'open' | 'has'> & {
  /**
   * Keeps the file of an upload; durable when the promise resolves. `isEntered`: `reserveAnswer` has entered
   * it. Throws `disk_full`.
   */
  keepFile(id: string, bytes: AsyncIterable<Uint8Array>, isEntered?: boolean): Promise<void>
  /** Makes the file of an upload due for removal, because no push takes it. */
  giveUpFile(id: string): Promise<void>
  /**
   * Removes the files that are due, and resolves to their number. A concurrent call waits for the running
   * one, then checks again.
   */
  removeDue(): Promise<number>
  /** Resolves to when the next file is due for removal, which may be in the past; null if none is. */
  findNextDue(): Promise<number | null>
}

export type FreeSpace = {
  /**
   * Checks the free space. Throws `disk_full` if it is below the floor. Returns null if there is nothing to
   * wait for.
   */
  require(): Promise<void> | null
  /** Whether more than the floor was free when the disk was last measured, about a second ago. */
  hasRoom(): boolean
  /** Whether a write failed on a full disk, and the disk has had no room since. */
  isFull(): boolean
  /**
   * Measures the free and total bytes of the data folder's disk. `inodes` is null if the file system does not
   * count them.
   */
  measure(): Promise<{ free: number; total: number; inodes: { free: number; total: number } | null }>
}
