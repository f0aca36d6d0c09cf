// The backups that the server makes by itself: whether its folder can be used, and how old the last one is. Changes nothing.

import { statfs } from 'node:fs/promises'
import { findFolderFault, isOnOneDisk } from '../../backup/own-folder.ts'
import { MAKE_ROOM } from '../../backup/refusals.ts'
import { reasonOf } from '../../domain/system-errors.ts'
import { formatTime, HOUR, SECOND } from '../../domain/time.ts'
import type { Config } from '../../settings/table.ts'
import { type BackupNote, readBackupNote } from '../../store/folder/backup-note.ts'
import { KEY_WARNING, showsInstanceKey } from '../backing-up.ts'
import { type Finding, fine, problem, warning } from './finding.ts'

/** A disk that does not answer by then hangs. */
const PATIENCE_MS = 10 * SECOND

export type BackupsLook = { now: number; isServed: boolean }

export async function examineBackups(config: Config, look: BackupsLook): Promise<Finding[]> {
  const { backupDir: folder } = config
  if (folder === null) return [fine('backups', 'This server makes none by itself (--backup-dir).')]
  const hanging = problem(
    'backups',
    `The disk of ${folder} does not answer.`,
    'Check it, or the network that it is on.',
  )
  const found = examineFolder(folder, { config, look }).catch((cause) => [
    problem('backups', reasonOf(cause), 'Until then no backups are made.'),
  ])
  return Promise.race([found, Bun.sleep(PATIENCE_MS).then(() => [hanging])])
}

async function examineFolder(
  folder: string,
  { config, look }: { config: Config; look: BackupsLook },
): Promise<Finding[]> {
  const { dataDir, backupEvery: every, backupRecipients: recipients } = config
  const note = await readBackupNote(dataDir)
  const fault = await findFolderFault({ folder, dataDir, note })
  if (fault?.isMissing && !note.folders.includes(folder))
    return [
      warning(
        'backups',
        `There is no ${folder} yet.`,
        'Start the server, which makes it, or mount its disk first.',
      ),
    ]
  if (fault !== null) return [problem('backups', fault.said, fault.remedy)]
  const last = note.last?.folder === folder ? note.last : null
  const findings = [
    ...((await isOnOneDisk(folder, dataDir)) ? [onSameDisk(folder)] : []),
    ...(showsInstanceKey(config)
      ? [warning('backups', `In ${KEY_WARNING.said}.`, `${KEY_WARNING.remedy}.`)]
      : []),
    ...(await examineRoom(folder, last)),
    ...examineLast(folder, { last, every, look }),
  ]
  if (findings.length > 0 || last === null) return findings
  const keys = recipients.length === 0 ? 'not encrypted' : `encrypted for ${recipients.length} age keys`
  return [fine('backups', `${folder} holds ${last.kept}, the last one of ${formatTime(last.at)}, ${keys}.`)]
}

function onSameDisk(folder: string): Finding {
  const said = `${folder} is on the disk of the data: a disk that fails takes both.`
  return warning('backups', said, 'Mount another disk there, or name a folder on one with --backup-dir.')
}

async function examineRoom(folder: string, last: BackupNote['last']): Promise<Finding[]> {
  const { bavail, bsize } = await statfs(folder)
  if (last === null || bavail * bsize >= last.bytes) return []
  return [warning('backups', `The disk of ${folder} has no room for one more backup.`, MAKE_ROOM)]
}

type Last = { last: BackupNote['last']; every: number; look: BackupsLook }

function examineLast(folder: string, { last, every, look }: Last): Finding[] {
  const remedy = look.isServed
    ? 'See the log of the server, and /admin.'
    : 'Start the server; it makes one soon after.'
  if (last === null) return [warning('backups', `There is no backup in ${folder} yet.`, remedy)]
  if (look.now - last.at <= 1.25 * every + HOUR) return []
  const tell = look.isServed ? problem : warning
  return [tell('backups', `The last good backup is of ${formatTime(last.at)}: the next is overdue.`, remedy)]
}
