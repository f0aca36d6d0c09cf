// Which backups of this server are in its folder: the durable record, and what was found there last.

import { backupName, type MadeBackup, timeOfBackup } from '../../domain/backup-plan.ts'
import { SECOND } from '../../domain/time.ts'
import type { BackupRecord } from '../../store/folder/backup-record.ts'
import type { BackupOrder, BackupTask, TaskDone } from './task.ts'

export type LedgerOptions = {
  folder: string
  dataDir: string
  /** Whether the backups are encrypted. */
  isSealed: boolean
  record: BackupRecord
  /** Durable when it resolves. */
  writeRecord: (record: BackupRecord) => Promise<void>
}

export type Ledger = ReturnType<typeof createLedger>

export function createLedger({ folder, dataDir, isSealed, writeRecord, ...options }: LedgerOptions) {
  let { record } = options
  /** Null before the first look: until then all are taken to be there. */
  let present: readonly string[] | null = null

  const isHere = (entry: { folder: string }) => entry.folder === folder
  const listed = () => record.made.filter(isHere)
  const begun = () => record.begun.filter(isHere).map(({ name }) => name)

  async function save(next: BackupRecord): Promise<void> {
    // A look that finds nothing new writes nothing.
    if (!Bun.deepEquals(next, record)) await writeRecord(next)
    record = next
  }

  function list(): MadeBackup[] {
    return listed().filter(({ name }) => present === null || present.includes(name))
  }

  /** Resolves to a name that nothing has had. A clock that stands still would give two of them one name. */
  async function begin(time: number): Promise<string> {
    const taken = [...listed().map(({ name }) => name), ...begun()]
    let at = time
    const nameNow = () => backupName({ at, mark: record.mark, isSealed })
    while (taken.includes(nameNow())) at += SECOND
    const name = nameNow()
    await save({ ...record, begun: [...record.begun, { folder, name }] })
    return name
  }

  /** Takes over what the folder was found to hold; the names that were begun are settled then. */
  async function settle(found: TaskDone, made?: Omit<MadeBackup, 'bytes'>): Promise<void> {
    const unlisted = found.present.filter(({ name }) => begun().includes(name))
    const added = unlisted.map(({ name, bytes }) => {
      const timed = made?.name === name ? made : { name, at: timeOfBackup(name) ?? 0, durationMs: null }
      return { ...timed, folder, bytes }
    })
    const kept = record.made.filter((entry) => !isHere(entry) || !found.removed.includes(entry.name))
    await save({
      ...record,
      made: [...kept, ...added],
      begun: record.begun.filter((entry) => !isHere(entry)),
    })
    present = found.present.map(({ name }) => name)
  }

  /** One that was used and is missing is a disk that is not mounted, which must not be filled in its place. */
  function taskFor(make: BackupOrder | null): BackupTask {
    const known = listed().map(({ name, bytes }) => ({ name, bytes }))
    const isUnused = known.length === 0 && begun().length === 0
    return { folder, dataDir, mayMakeFolder: isUnused, known, begun: begun(), make }
  }

  return { begin, settle, taskFor, list, last: () => list().at(-1) ?? null }
}
