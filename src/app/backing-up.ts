// Makes the schedule of a server's own backups, when --backup-dir asks for them.

import { relative } from 'node:path'
import { reasonOf } from '../domain/system-errors.ts'
import type { Now, Uptime } from '../domain/time.ts'
import { type Backups, createBackups } from '../operating/backup-schedule/backups.ts'
import { createStartTask, type StartTask } from '../operating/backup-schedule/process.ts'
import type { Log } from '../operating/log.ts'
import type { Config } from '../settings/table.ts'
import { readBackupRecord, writeBackupRecord } from '../store/folder/backup-record.ts'
import { dataFolder } from '../store/folder/data-folder.ts'

export type { Backups, StartTask }

type Env = Readonly<Record<string, string | undefined>>

/** The command that starts this program again, and its environment. */
export type OwnProgram = { self: readonly string[]; env: Env }

/** Starts this program again for the work in the folder of backups. */
export function openStartTask({ self, env }: OwnProgram): StartTask {
  return createStartTask({ self, env: withoutSettings(env) })
}

/** What systems need to start a program; our variables may hold secrets. */
const NEEDED = ['PATH', 'TMPDIR', 'TMP', 'TEMP', 'SystemRoot', 'windir']

function withoutSettings(env: Env): Record<string, string> {
  return Object.fromEntries(NEEDED.flatMap((name) => (env[name] ? [[name, env[name]]] : [])))
}

export type OpenBackupsOptions = {
  config: Config
  store: { certain: Now }
  uptime: Uptime
  startTask?: StartTask
  log: Log
}

/** Null without --backup-dir. */
export async function openBackups(options: OpenBackupsOptions): Promise<Backups | null> {
  const { config, store, uptime, startTask, log } = options
  const {
    backupDir: folder,
    backupRecipients: recipients,
    dataDir,
    keyFile,
    tlsAuthorityKey,
    minFreeSpace,
  } = config
  if (folder === null || startTask === undefined) return null
  const showsKey = showsInstanceKey(config)
  if (showsKey) log.warn({ folder }, `in ${KEY_WARNING.said}. ${KEY_WARNING.remedy}`)
  return createBackups({
    plan: { folder, recipients, every: config.backupEvery, keep: config.backupKeep },
    ...{ dataDir, showsKey, startTask, log },
    order: { keyFile, tlsAuthorityKey, minFreeSpace },
    record: await readBackupRecord(dataDir, (cause) =>
      log.warn(
        { dataDir },
        `the record of backups is lost, so that earlier ones are not removed: ${reasonOf(cause)}`,
      ),
    ),
    writeRecord: (record) => writeBackupRecord(dataDir, record),
    // In doubt about the clock, the certain time goes on as it should.
    readClocks: () => ({ time: store.certain(), up: uptime() }),
  })
}

/** The log tells who asked for it. */
export function createMakeBackup({ makeNow }: Pick<Backups, 'makeNow'>, log: Log) {
  return (by: { accountId: number }): void => {
    log.info(by, 'an administrator asked for a backup')
    makeNow()
  }
}

export const KEY_WARNING = {
  said: 'backups that are not encrypted and hold the instance key, everybody who has one can read the names, notes and links',
  remedy: 'Encrypt them with --backup-recipient, or keep the key elsewhere with --key-file',
}

/** Whether a backup holds the instance key for everybody who has the backup. */
export function showsInstanceKey({ dataDir, keyFile, backupRecipients }: Config): boolean {
  const way = relative(dataDir, keyFile ?? dataFolder(dataDir).key)
  return backupRecipients.length === 0 && !/^\.\.($|[/\\])|^[A-Z]:/i.test(way)
}
