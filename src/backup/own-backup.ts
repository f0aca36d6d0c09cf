// Makes a backup in --backup-dir and removes the surplus ones: `oncebox backup` without FILE, and scheduled
// backups. Other files in that folder, such as backups of other servers, are never touched.

import { constants, existsSync } from 'node:fs'
import { access, mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { backupName, ownBackups, surplusBackups } from '../domain/backup-plan.ts'
import { conflict } from '../domain/errors.ts'
import { codeOf, reasonOf } from '../domain/system-errors.ts'
import { SECOND } from '../domain/time.ts'
import { dataFolder, requireDataFolder } from '../store/folder/data-folder.ts'
import { type BackupNote, readBackupNote, writeBackupNote } from '../store/folder/notes.ts'
import { becomeOwner } from '../store/folder/ownership.ts'
import { refuseInside } from '../store/opening/backup-source.ts'
import { type BackupPorts, type BackupReport, type BackupWish, backUp } from './backup.ts'
import { explainWriting, remedyFor } from './refusals.ts'

type OwnBackupWish = Omit<BackupWish, 'file'> & {
  folder: string
  /** How many backups to keep. */
  keep: number
}

/**
 * Makes a backup. Throws as `backUp` does; also `conflict` if the disk of the folder is not mounted, or if
 * the backup was made but an old one could not be removed.
 */
export async function backUpInFolder(wish: OwnBackupWish, ports: BackupPorts): Promise<BackupReport> {
  try {
    return await makeNext(wish, ports)
  } catch (cause) {
    throw explainWriting(wish.folder, cause)
  }
}

async function makeNext(wish: OwnBackupWish, ports: BackupPorts): Promise<BackupReport> {
  const { folder, keep, ...rest } = wish
  const { dataDir, seal } = rest
  const begun = performance.now()
  // Run by root, this must create files that the server can remove later.
  if (existsSync(dataDir)) becomeOwner(dataDir)
  requireDataFolder(dataFolder(dataDir))
  const note = await readBackupNote(dataDir)
  await prepareFolder({ folder, dataDir, note })
  // Save the mark first: if the process is killed now, the next backup must recognize this one.
  if (note.last === null) await writeBackupNote(dataDir, note)
  const at = ports.now()
  const name = await newName(folder, { at, mark: note.mark, isSealed: seal !== null })
  const file = join(folder, name)
  const report = await backUp({ ...rest, file }, ports)
  // If the database is damaged, keep every backup: an earlier one may contain the rows that this one lacks.
  const most = report.leftOut > 0 ? Number.POSITIVE_INFINITY : keep
  const own = ownBackups(await readdir(folder), note.mark)
  const surplus = surplusBackups(own, { made: name, keep: most })
  const reasons = await Promise.all(surplus.map((old) => remove(join(folder, old))))
  const failures = reasons.filter((why) => why !== null)
  const kept = own.length - surplus.length + failures.length
  const isSameDisk = await isOnOneDisk(folder, dataDir)
  const durationMs = Math.round(performance.now() - begun)
  const last = { folder, name, at, bytes: report.bytes, durationMs, kept, isSameDisk }
  await writeBackupNote(dataDir, { ...note, last })
  if (failures.length === 0) return report
  throw conflict(`The backup ${file} was made, but ${failures[0]}. Remove it yourself.`)
}

/** Resolves to the reason why the backup could not be removed, or null if it was. */
async function remove(path: string): Promise<string | null> {
  try {
    await rm(path, { force: true })
    return null
  } catch (cause) {
    return `the old backup ${path} cannot be removed: ${reasonOf(cause)}`
  }
}

/** Returns an unused name. Two backups within the same second would otherwise get the same one. */
async function newName(
  folder: string,
  backup: { at: number; mark: string; isSealed: boolean },
): Promise<string> {
  const names = await readdir(folder)
  let { at } = backup
  while (names.includes(backupName({ ...backup, at }))) at += SECOND
  return backupName({ ...backup, at })
}

/** Creates the folder before the first backup. Throws `conflict` if it cannot be used. */
async function prepareFolder(own: OwnFolder): Promise<void> {
  const { folder, dataDir } = own
  for (const path of [folder, join(folder, 'backup')]) refuseInside(dataDir, path)
  if (!isUsed(own) && !existsSync(folder)) await mkdir(folder, { mode: 0o700 })
  const fault = await findFolderFault(own)
  if (fault !== null) throw conflict(`${fault.said} ${fault.remedy}`)
}

/** Whether the last backup was made in this folder. */
export function isUsed({ folder, note }: Pick<OwnFolder, 'folder' | 'note'>): boolean {
  return note.last?.folder === folder
}

type OwnFolder = { folder: string; dataDir: string; note: BackupNote }

/** Why a folder cannot take backups, in sentences for the command and for the doctor. */
type FolderFault = { said: string; remedy: string; isMissing: boolean }

/**
 * Resolves to null if backups can be written to the folder. Read-only. Never resolves while the disk hangs.
 */
export async function findFolderFault(own: OwnFolder): Promise<FolderFault | null> {
  const { folder, dataDir, note } = own
  try {
    await readdir(folder)
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    if (!isUsed(own) || note.last?.isSameDisk || !(await isOnOneDisk(folder, dataDir))) return null
    const said = `${folder} is now on the disk of the data, but the last backup went to another disk.`
    return { said, remedy: 'Mount its disk, or name another folder with --backup-dir.', isMissing: false }
  } catch (cause) {
    const said = `${folder} cannot take backups: ${reasonOf(cause)}.`
    return { said, remedy: remedyFor(cause), isMissing: codeOf(cause) === 'ENOENT' }
  }
}

async function isOnOneDisk(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([stat(one), stat(other)])
  return first.dev === second.dev
}
