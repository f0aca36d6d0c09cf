// Makes a backup in the folder of --backup-dir, which holds this data folder's own: `oncebox backup` without FILE, and what a
// server starts on its timer. The folder may hold files of other servers and of people, which nothing here touches.

import { constants, existsSync } from 'node:fs'
import { access, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { backupName, ownBackups, surplusBackups } from '../domain/backup-plan.ts'
import { DomainError } from '../domain/errors.ts'
import { codeOf, reasonOf } from '../domain/system-errors.ts'
import { SECOND } from '../domain/time.ts'
import { dataFolder, requireDataFolder } from '../store/folder/data-folder.ts'
import { syncFolder } from '../store/folder/durable-files.ts'
import { type BackupNote, readBackupNote, writeBackupNote } from '../store/folder/notes.ts'
import { becomeOwner } from '../store/folder/ownership.ts'
import { refuseInside } from '../store/opening/backup-source.ts'
import { type BackupPorts, type BackupReport, type BackupWish, backUp } from './backup.ts'
import { isPartOfOtherHost } from './destination.ts'
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
  const place = await claimFolder({ folder, dataDir, acceptFolder })
  const at = ports.now()
  const file = await newBackupPath(place, { now: at, isSealed: seal !== null })
  const report = await backUp({ ...rest, file }, ports)
  const name = basename(file)
  // When the database is damaged, the earlier ones may hold what this one has lost.
  const most = report.leftOut > 0 ? Number.POSITIVE_INFINITY : keep
  const { kept, stays } = await removeOldBackups(place, { made: name, keep: most })
  const isSameDisk = await isOnOneDisk(folder, dataDir)
  const durationMs = Math.round(performance.now() - begun)
  const last = { folder, name, at, bytes: report.bytes, durationMs, kept, isSameDisk }
  await writeBackupNote(dataDir, { ...place.note, last })
  if (stays === null) return report
  throw new DomainError('conflict', `The backup ${file} is made, but ${stays}. Remove it yourself.`)
}

type Claim = { folder: string; dataDir: string; acceptFolder: boolean }

/** Marks it at its first use. */
async function claimFolder({ folder, dataDir, acceptFolder }: Claim): Promise<OwnFolder> {
  for (const path of [folder, join(folder, 'backup')]) refuseInside(dataDir, path)
  const note = await readBackupNote(dataDir)
  const isUsed = note.folders.includes(folder)
  const fault = isUsed && !acceptFolder ? await findFolderFault({ folder, dataDir, note }) : null
  if (fault !== null) throw new DomainError('conflict', `${fault.said} ${fault.remedy}`)
  if (isUsed && !acceptFolder) return { folder, dataDir, note }
  await markFolder({ folder, dataDir, note })
  const marked = { ...note, folders: [...note.folders.filter((one) => one !== folder), folder] }
  await writeBackupNote(dataDir, marked)
  return { folder, dataDir, note: marked }
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
    const said = `${folder} cannot take backups: ${reasonOf(cause)}.`
    return { said, remedy: remedyFor(cause), isMissing: codeOf(cause) === 'ENOENT' }
  }
}

/** Makes the folder if it is missing, and puts the mark there: once it has one, an empty mount point is not taken for it. */
async function markFolder({ folder, note }: OwnFolder): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 }).catch((cause) => {
      if (codeOf(cause) !== 'EEXIST') throw cause
    })
    if ((await readdir(folder)).includes(markName(note))) return
    await writeFile(join(folder, markName(note)), MARK_TEXT, { mode: 0o600, flag: 'wx', flush: true })
    syncFolder(folder)
  } catch (cause) {
    throw new DomainError(
      'conflict',
      `${folder} cannot take backups: ${reasonOf(cause)}. ${remedyFor(cause)}`,
    )
  }
}

function markName({ mark }: BackupNote): string {
  return `oncebox-folder-${mark}.txt`
}

const MARK_TEXT =
  'An Oncebox server makes its backups in this folder, and only while this file is here: without it, the disk of the folder is\n' +
  'not mounted. Leave the file here, and take it along when you move the backups to another disk.\n'

export async function isOnOneDisk(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([stat(one), stat(other)])
  return first.dev === second.dev
}

/** A path that nothing has. Removes what killed backups of other machines, such as former containers, left unfinished. */
async function newBackupPath(
  { folder, note: { mark } }: OwnFolder,
  { now, isSealed }: { now: number; isSealed: boolean },
): Promise<string> {
  const names = await readdir(folder)
  const left = names.filter((name) => name.includes(`Z-${mark}.tar`) && isPartOfOtherHost(name))
  for (const name of left) await rm(join(folder, name), { force: true })
  let at = now
  const nameNow = () => backupName({ at, mark, isSealed })
  // A clock that stands still would give two backups one name.
  while (names.includes(nameNow())) at += SECOND
  return join(folder, nameNow())
}

/** Call it once `made` is complete. `stays` says why one that may go is still there. */
async function removeOldBackups(
  { folder, note: { mark } }: OwnFolder,
  { made, keep }: { made: string; keep: number },
): Promise<{ kept: number; stays: string | null }> {
  const own = ownBackups(await readdir(folder), mark)
  let kept = own.length
  let stays: string | null = null
  for (const name of surplusBackups(own, { made, keep })) {
    try {
      await rm(join(folder, name), { force: true })
      kept -= 1
    } catch (cause) {
      stays = `the old backup ${join(folder, name)} cannot be removed: ${reasonOf(cause)}`
    }
  }
  return { kept, stays }
}
