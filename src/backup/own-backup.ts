// Makes a backup in the folder of --backup-dir, which holds this data folder's own: `oncebox backup` without FILE, and what a
// server starts on its timer. The folder may hold files of other servers and of people, which nothing here touches.

import { constants, existsSync } from 'node:fs'
import { access, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { backupName, ownBackups, surplusBackups } from '../domain/backup-plan.ts'
import { conflict } from '../domain/errors.ts'
import { codeOf, reasonOf } from '../domain/system-errors.ts'
import { SECOND } from '../domain/time.ts'
import { dataFolder, requireDataFolder } from '../store/folder/data-folder.ts'
import { syncFolder } from '../store/folder/durable-files.ts'
import { type BackupNote, readBackupNote, writeBackupNote } from '../store/folder/notes.ts'
import { becomeOwner } from '../store/folder/ownership.ts'
import { refuseInside } from '../store/opening/backup-source.ts'
import { type BackupPorts, type BackupReport, type BackupWish, backUp } from './backup.ts'
import { explainWriting, remedyFor } from './refusals.ts'

export type OwnBackupWish = Omit<BackupWish, 'file'> & {
  folder: string
  /** How many stay. */
  keep: number
  /** Takes a folder that lacks the mark of the one that was used before. */
  acceptFolder: boolean
}

/**
 * Throws `conflict` for a folder that is not the one that was used before, what `backUp` throws, and `conflict` when the backup
 * is made but an old one cannot be removed.
 */
export async function backUpInFolder(wish: OwnBackupWish, ports: BackupPorts): Promise<BackupReport> {
  try {
    return await makeNext(wish, ports)
  } catch (cause) {
    throw explainWriting(wish.folder, cause)
  }
}

async function makeNext(wish: OwnBackupWish, ports: BackupPorts): Promise<BackupReport> {
  const { folder, keep, acceptFolder, ...rest } = wish
  const { dataDir, seal } = rest
  const begun = performance.now()
  // Root makes them as the server does, which has to remove them later.
  if (existsSync(dataDir)) becomeOwner(dataDir)
  requireDataFolder(dataFolder(dataDir))
  const note = await claimFolder({ folder, dataDir, note: await readBackupNote(dataDir) }, acceptFolder)
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

/** Marks the folder at its first use, and notes that. */
async function claimFolder(own: OwnFolder, acceptFolder: boolean): Promise<BackupNote> {
  const { folder, dataDir, note } = own
  for (const path of [folder, join(folder, 'backup')]) refuseInside(dataDir, path)
  const isUsed = note.folders.includes(folder) && !acceptFolder
  const fault = isUsed ? await findFolderFault(own) : null
  if (fault !== null) throw conflict(`${fault.said} ${fault.remedy}`)
  if (isUsed) return note
  await markFolder(own)
  const marked = { ...note, folders: [...note.folders.filter((one) => one !== folder), folder] }
  await writeBackupNote(dataDir, marked)
  return marked
}

export type OwnFolder = { folder: string; dataDir: string; note: BackupNote }

/** Sentences, for a command and for the doctor. */
export type FolderFault = { said: string; remedy: string; isMissing: boolean }

const ACCEPT =
  'or start the server once with --backup-accept-folder (ONCEBOX_BACKUP_ACCEPT_FOLDER=true) if backups are to go here from now on.'

/** Why no backup can go there; null when one can. Changes nothing. A disk that hangs holds it for as long. */
export async function findFolderFault({ folder, dataDir, note }: OwnFolder): Promise<FolderFault | null> {
  const isUsed = note.folders.includes(folder)
  try {
    const names = await readdir(folder)
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    if (!isUsed) return null
    const isMarked = names.includes(markName(note))
    const wasOther = note.last?.folder === folder && !note.last.isSameDisk
    if (isMarked && !(wasOther && (await isOnOneDisk(folder, dataDir)))) return null
    const said = isMarked
      ? `${folder} is on the disk of the data now, and the last backup went to another disk.`
      : `${folder} is not the folder that backups went to: ${markName(note)} is not in it.`
    return { said, remedy: `Mount its disk, ${ACCEPT}`, isMissing: false }
  } catch (cause) {
    const said = cannotTake(folder, cause)
    return { said, remedy: remedyFor(cause), isMissing: codeOf(cause) === 'ENOENT' }
  }
}

/** Makes the folder if it is missing, and puts the mark there: once it has one, an empty mount point is not taken for it. */
async function markFolder({ folder, note }: OwnFolder): Promise<void> {
  try {
    if (!existsSync(folder)) await mkdir(folder, { mode: 0o700 })
    const mark = join(folder, markName(note))
    if (!existsSync(mark)) await writeFile(mark, MARK_TEXT, { mode: 0o600, flag: 'wx', flush: true })
    syncFolder(folder)
  } catch (cause) {
    throw conflict(`${cannotTake(folder, cause)} ${remedyFor(cause)}`)
  }
}

function cannotTake(folder: string, cause: unknown): string {
  return `${folder} cannot take backups: ${reasonOf(cause)}.`
}

function markName({ mark }: BackupNote): string {
  return `oncebox-folder-${mark}.txt`
}

const MARK_TEXT =
  'An Oncebox server makes its backups in this folder, and only while this file is here: without it, the disk of the folder is\n' +
  'not mounted. Leave the file here, and take it along when you move the backups to another disk.\n'

async function isOnOneDisk(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([stat(one), stat(other)])
  return first.dev === second.dev
}
