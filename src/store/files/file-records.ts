// What an engine records of files: which uploads are unfinished, and which files are due for removal.

/** Every change is durable when its promise resolves. */
export type FileRecords = {
  /** Enters an upload, before its first byte is written. Throws `disk_full`. */
  begin(id: string): Promise<void>
  /** Makes the file of an upload that no push took due for removal. */
  giveUp(id: string): Promise<void>
  /** Some files that are due. Until a later time nobody else is given them. */
  takeDue(most: number): Promise<string[]>
  /** Forgets the files that are gone, and looks for the others again at the time `at`. */
  settle(taken: { gone: readonly string[]; left: readonly string[]; at: number }): Promise<void>
  /** When the next file is due, which may be in the past; null when none is. */
  findNextDue(): Promise<number | null>
  /** Tells the other processes that a file is read here, until the returned function is called. */
  noteReading(id: string): Promise<() => Promise<void>>
  /** Of these ids, those that another process reads. */
  findReadElsewhere(ids: readonly string[]): Promise<ReadonlySet<string>>
}
