// The backups that the server makes by itself: whether its folder can be used, and how old the last one is. Changes nothing.

import { statfs } from 'node:fs/promises'
import { codeOf } from '../../domain/system-errors.ts'
import { formatTime, HOUR, SECOND } from '../../domain/time.ts'
import { adviceFor } from '../../operating/backup-schedule/advice.ts'
import { isOnOneDisk, listPresent, requireBackupFolder } from '../../operating/backup-schedule/folder.ts'
import { type BackupTask, explainTaskFailure } from '../../operating/backup-schedule/task.ts'
import type { Config } from '../../settings/table.ts'
import { type RecordedBackup, readBackupRecord } from '../../store/folder/backup-record.ts'
import { KEY_WARNING, showsInstanceKey } from '../backing-up.ts'
import { type Finding, fine, problem, warning } from './finding.ts'

/** A disk that does not answer by then hangs. */
const PATIENCE_MS = 10 * SECOND

export type BackupsLook = { now: number; isServed: boolean }

export async function examineBackups(config: Config, look: BackupsLook): Promise<Finding[]> {
  const { backupDir: folder, dataDir } = config
  if (folder === null) return [fine('backups', 'This server makes none by itself (--backup-dir).')]
  const { made } = await readBackupRecord(dataDir)
  const known = made.filter((backup) => backup.folder === folder)
  const task: BackupTask = { folder, dataDir, known, begun: [], make: null, mayMakeFolder: false }
  const hanging = problem('backups', `The disk of ${folder} does not answer.`, adviceFor('stalled', folder))
  const found = examineFolder(task, { config, known, look }).catch((cause) => [explain(cause, task)])
  return Promise.race([found, Bun.sleep(PATIENCE_MS).then(() => [hanging])])
}

type Known = { config: Config; known: readonly RecordedBackup[]; look: BackupsLook }

async function examineFolder(task: BackupTask, { config, known, look }: Known): Promise<Finding[]> {
  const { folder, dataDir } = task
  await requireBackupFolder(task)
  const present = (await listPresent(task)).map(({ name }) => name)
  const last = known.findLast(({ name }) => present.includes(name)) ?? null
  const findings = [
    ...((await isOnOneDisk(folder, dataDir)) ? [onSameDisk(folder)] : []),
    ...(showsInstanceKey(config) ? [showsKey()] : []),
    ...(await examineRoom(folder, last)),
    ...examineLast(folder, { last, every: config.backupEvery, look }),
  ]
  return findings.length > 0 ? findings : [describe(config, { folder, last, count: present.length })]
}

/** A folder that never held one is made by the server. */
function explain(cause: unknown, task: BackupTask): Finding {
  const { folder, known } = task
  const { code, words } = explainTaskFailure(cause, task)
  if (codeOf(cause) === 'ENOENT' && known.length === 0)
    return warning(
      'backups',
      `There is no ${folder} yet.`,
      'Start the server, which makes it, or mount its disk first.',
    )
  return problem('backups', `No backup can be made in ${folder}: ${words}.`, adviceFor(code, folder))
}

function onSameDisk(folder: string): Finding {
  const said = `${folder} is on the disk of the data: a disk that fails takes both.`
  return warning('backups', said, 'Mount another disk there, or name a folder on one with --backup-dir.')
}

function showsKey(): Finding {
  return warning('backups', `In ${KEY_WARNING.said}.`, `${KEY_WARNING.remedy}.`)
}

async function examineRoom(folder: string, last: RecordedBackup | null): Promise<Finding[]> {
  const { bavail, bsize } = await statfs(folder)
  if (last === null || bavail * bsize >= last.bytes) return []
  return [
    warning('backups', `The disk of ${folder} has no room for one more backup.`, adviceFor('full', folder)),
  ]
}

type Last = { last: RecordedBackup | null; every: number; look: BackupsLook }

function examineLast(folder: string, { last, every, look }: Last): Finding[] {
  const remedy = look.isServed
    ? 'See the log of the server, and /admin.'
    : 'Start the server; it makes one soon after.'
  if (last === null) return [warning('backups', `There is no backup in ${folder} yet.`, remedy)]
  if (look.now - last.at <= 1.25 * every + HOUR) return []
  const tell = look.isServed ? problem : warning
  return [tell('backups', `The last good backup is of ${formatTime(last.at)}: the next is overdue.`, remedy)]
}

type Described = { folder: string; last: RecordedBackup | null; count: number }

function describe({ backupRecipients }: Config, { folder, last, count }: Described): Finding {
  const keys =
    backupRecipients.length === 0 ? 'not encrypted' : `encrypted for ${backupRecipients.length} age keys`
  const of = last === null ? '' : `, the last one of ${formatTime(last.at)}`
  return fine('backups', `${folder} holds ${count}${of}, ${keys}.`)
}
