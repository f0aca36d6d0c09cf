// Opens the scheduled backups of a server, with --backup-dir.

import type { StartBackup } from '../backup/backup-child.ts'
import { type Backups, createBackups } from '../backup/backups.ts'
import type { MadeBackup } from '../domain/backup-plan.ts'
import type { Now, Uptime } from '../domain/time.ts'
import type { Log } from '../operating/log.ts'
import { noteFailure } from '../operating/logging.ts'
import { isInside } from '../settings/contradictions.ts'
import type { Config } from '../settings/table.ts'
import type { Store } from '../store/contract.ts'
import { dataFolder } from '../store/folder/data-folder.ts'
import { readBackupNote } from '../store/folder/notes.ts'

type OpenBackupsOptions = {
  config: Config
  now: Now
  uptime: Uptime
  startBackup?: StartBackup
  store: Pick<Store, 'events'>
  log: Log
}

/** Returns null without --backup-dir. */
export async function openBackups(options: OpenBackupsOptions): Promise<Backups | null> {
  const { config, now, uptime, startBackup, store, log } = options
  const { backupDir: folder, backupRecipients: recipients } = config
  if (folder === null || startBackup === undefined) return null
  const showsKey = showsInstanceKey(config)
  if (showsKey) log.warn({ folder }, KEY_WARNING)
  return createBackups({
    plan: { folder, recipients, every: config.backupEvery, keep: config.backupKeep, showsKey },
    ...{ now, uptime, log },
    onFailing: () =>
      store.events
        .tellAdmins({ type: 'backup.failed', data: {} })
        .catch(noteFailure(log, 'could not notify the administrators of a failed backup')),
    readLast: () => readLast(config.dataDir, folder),
    startChild: () => startBackup(argsOf(config, folder)),
  })
}

/** Returns the last backup; null if its note cannot be read, which the next backup process reports. */
async function readLast(dataDir: string, folder: string): Promise<MadeBackup | null> {
  const note = await readBackupNote(dataDir).catch(() => null)
  return note?.last?.folder === folder ? note.last : null
}

/** Returns the arguments of the backup command. None is secret: the command reads secrets from files. */
function argsOf(config: Config, folder: string) {
  const { dataDir, keyFile, tlsAuthorityKey, minFreeSpace, backupKeep, backupRecipients } = config
  return [
    ...['backup', '--data-dir', dataDir, '--min-free-space', String(minFreeSpace)],
    ...(keyFile === null ? [] : ['--key-file', keyFile]),
    ...(tlsAuthorityKey === null ? [] : ['--tls-authority-key', tlsAuthorityKey]),
    ...['--backup-dir', folder, '--backup-keep', String(backupKeep)],
    ...backupRecipients.flatMap((recipient) => ['--backup-recipient', recipient]),
  ]
}

const KEY_WARNING =
  'in backups that are not encrypted and hold the instance key, anyone who has one can read the names and notes of accounts. ' +
  'Encrypt them with --backup-recipient, or keep the key elsewhere with --key-file'

/** Whether backups contain the instance key unencrypted. */
function showsInstanceKey({ dataDir, keyFile, backupRecipients }: Config): boolean {
  return backupRecipients.length === 0 && isInside(keyFile ?? dataFolder(dataDir).key, dataDir)
}
