// Makes a backup in the folder of --backup-dir, which holds this data folder's own: `oncebox backup` without
// FILE, and what a server starts on its timer. The folder may hold files of other servers and of people,
// which nothing here touches.

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

export type OwnBackupWish = Omit<BackupWish, 'file'> & {
  folder: string
  /** How many stay. */
  keep: number
}

/**
 * Throws `conflict` for a folder whose disk is not mounted, what `backUp` throws, and `conflict` when the
 * backup is made but an old one cannot be removed.
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
  // Root makes them as the server does, which has to remove them later.
  if (existsSync(dataDir)) becomeOwner(dataDir)
  requireDataFolder(dataFolder(dataDir))
  const note = await readBackupNote(dataDir)
  await prepareFolder({ folder, dataDir, note })
  // A backup that is complete when the process is killed must bear a mark that the next one knows.
  if (note.last === null) await writeBackupNote(dataDir, note)
  const at = ports.now()
  const name = await newName(folder, { at, mark: note.mark, isSealed: seal !== null })
  const file = join(folder, name)
  const report = await backUp({ ...rest, file }, ports)
  // When the database is damaged, the earlier ones may hold what this one has lost.
  const most = report.leftOut > 0 ? Number.POSITIVE_INFINITY : keep
  const own = ownBackups(await readdir(folder), note.mark)
  const surplus = surplusBackups(own, { made: name, keep: most })
  const told = await Promise.all(surplus.map((old) => remove(join(folder, old))))
  const failures = told.filter((why) => why !== null)
  const kept = own.length - surplus.length + failures.length
  const isSameDisk = await isOnOneDisk(folder, dataDir)
  const durationMs = Math.round(performance.now() - begun)
  const last = { folder, name, at, bytes: report.bytes, durationMs, kept, isSameDisk }
  await writeBackupNote(dataDir, { ...note, last })
  if (failures.length === 0) return report
  throw conflict(`The backup ${file} is made, but ${failures[0]}. Remove it yourself.`)
}

/** Why the old backup stays; null when it is gone. */
async function remove(path: string): Promise<string | null> {
  try {
    await rm(path, { force: true })
    return null
  } catch (cause) {
    return `the old backup ${path} cannot be removed: ${reasonOf(cause)}`
  }
}

/** One that nothing has: a clock that stands still would give two backups one name. */
async function newName(
  folder: string,
  backup: { at: number; mark: string; isSealed: boolean },
): Promise<string> {
  const names = await readdir(folder)
  let { at } = backup
  while (names.includes(backupName({ ...backup, at }))) at += SECOND
  return backupName({ ...backup, at })
}

/** Makes a folder that is missing at its first use. Throws `conflict` if it cannot be used. */
async function prepareFolder(own: OwnFolder): Promise<void> {
  const { folder, dataDir } = own
  for (const path of [folder, join(folder, 'backup')]) refuseInside(dataDir, path)
  if (!isUsed(own) && !existsSync(folder)) await mkdir(folder, { mode: 0o700 })
  const fault = await findFolderFault(own)
  if (fault !== null) throw conflict(`${fault.said} ${fault.remedy}`)
}

/** Whether the last backup went there. */
export function isUsed({ folder, note }: Pick<OwnFolder, 'folder' | 'note'>): boolean {
  return note.last?.folder === folder
}

export type OwnFolder = { folder: string; dataDir: string; note: BackupNote }

/** Sentences, for a command and for the doctor. */
export type FolderFault = { said: string; remedy: string; isMissing: boolean }

/** Why no backup can go there; null when one can. Changes nothing. A disk that hangs holds it for as long. */
export async function findFolderFault(own: OwnFolder): Promise<FolderFault | null> {
  const { folder, dataDir, note } = own
  try {
    await readdir(folder)
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    if (!isUsed(own) || note.last?.isSameDisk || !(await isOnOneDisk(folder, dataDir))) return null
    const said = `${folder} is on the disk of the data now, and the last backup went to another disk.`
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
