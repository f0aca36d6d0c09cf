// What the process does that a server starts for its own backups.

import type { Now } from '../domain/time.ts'
import { TASK_COMMAND } from '../operating/backup-schedule/process.ts'
import { type MakeBackup, workInBackupFolder } from '../operating/backup-schedule/work.ts'
import { backUp } from './backup.ts'

export { TASK_COMMAND }

export type BackupTaskPorts = {
  now: Now
  /** Says a line to the server. */
  tell: (line: string) => void
  /** Lowers the priority of this process. */
  giveWay: () => void
}

/** `line` is a task of the server. Tells how it went in its last line; throws nothing. */
export function runBackupTask(line: string, { now, tell, giveWay }: BackupTaskPorts): Promise<void> {
  return workInBackupFolder(line, { tell, makeBackup: createMakeBackup({ now, giveWay }) })
}

function createMakeBackup({ now, giveWay }: Omit<BackupTaskPorts, 'tell'>): MakeBackup {
  return async ({ dataDir, destination: file, recipients, ...order }, onWork) => {
    const { keyFile, tlsAuthorityKey, minFreeSpace } = order
    const seal = recipients.length === 0 ? null : { recipients }
    // The server has noted its settings in the data folder.
    const wish = { dataDir, keyFile, tlsAuthorityKey, minFreeSpace, seal, file, settings: [] }
    const writeOutput = () => Promise.reject(new Error('this backup goes to a file'))
    const { damage } = await backUp(wish, { now, onCopied: giveWay, onProgress: onWork, writeOutput })
    return { damage }
  }
}
