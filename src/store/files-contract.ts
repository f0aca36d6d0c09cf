// What a store of sealed files promises: it keeps sealed bytes under ids that the services choose.

/** Sealed files. An id is never written twice. The services seal the content and keep names and types. */
export type SealedFiles = {
  /**
   * Writes a file as its bytes arrive. The file exists, and is durable, once the promise resolves. After a
   * failure call `remove`. Throws `disk_full`, and whatever `bytes` throws. All operations may throw
   * `files_unreachable`.
   */
  put(id: string, bytes: AsyncIterable<Uint8Array>): Promise<void>
  /** Returns null when the file does not exist any more. */
  open(id: string): Promise<OpenedFile | null>
  /** Whether the file is there and as long as `size` plain bytes are when sealed. */
  has(file: { id: string; size: number }): Promise<boolean>
  /** Removes a file, whole or unfinished. Does nothing when there is none. */
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
  /** How requests to it ended, since the start. */
  countRequests(): Readonly<Record<'ok' | 'retried' | 'missing' | 'failed', number>>
}

/**
 * A file that is open for reading, until `close`. On a disk it stays readable when it is removed meanwhile.
 */
export type OpenedFile = {
  /** Sealed bytes. */
  size: number
  /** The sealed bytes from `start`; fewer than `length` when the file ends earlier. */
  read(span: { start: number; length: number }): Promise<Uint8Array>
  close(): Promise<void>
}

/**
 * Files with a record of the push that each belongs to. Until a create takes it, a file is an unfinished
 * upload. Files that belong to nothing are due for removal; at a start this includes every unfinished upload.
 */
export type FileStore = Pick<SealedFiles, 'open' | 'has'> & {
  /**
   * Keeps the file of an upload; durable when the promise resolves. `isEntered`: `reserveAnswer` has entered
   * it. Throws `disk_full`.
   */
  keepFile(id: string, bytes: AsyncIterable<Uint8Array>, isEntered?: boolean): Promise<void>
  /** Makes the file of an upload that no push took due for removal. */
  giveUpFile(id: string): Promise<void>
  /**
   * Removes the files that are due and resolves to their number. A second call waits for the first, then
   * looks again.
   */
  removeDue(): Promise<number>
  /** When the next file is to be removed, which may be in the past; null when none is. */
  findNextDue(): Promise<number | null>
}

export type FreeSpace = {
  /** Throws `disk_full` when less than the floor is free. Returns null when there is nothing to wait for. */
  require(): Promise<void> | null
  /** Whether more than the floor was free when the disk was last measured, about a second ago. */
  hasRoom(): boolean
  /** Whether a write failed on a full disk, and the disk has had no room since. */
  isFull(): boolean
  /**
   * Free and total bytes of the disk under the data folder. `inodes` is null where the file system does not
   * count them.
   */
  measure(): Promise<{ free: number; total: number; inodes: { free: number; total: number } | null }>
}
