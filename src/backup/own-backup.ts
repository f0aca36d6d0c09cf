// Makes a backup in the folder of --backup-dir, which holds this data folder's own: `oncebox backup` without FILE, and what a
// server starts on its timer.

import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DomainError } from '../domain/errors.ts'
import { dataFolder, requireDataFolder } from '../store/folder/data-folder.ts'
import { readBackupNote, writeBackupNote } from '../store/folder/notes.ts'
import { becomeOwner } from '../store/folder/ownership.ts'
import { refuseInside } from '../store/opening/backup-source.ts'
import { type BackupPorts, type BackupReport, type BackupWish, backUp } from './backup.ts'
import {
  findFolderFault,
  isOnOneDisk,
  markFolder,
  newBackupPath,
  type OwnFolder,
  removeOldBackups,
} from './own-folder.ts'

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
  const most = report.damage.length > 0 ? Number.POSITIVE_INFINITY : keep
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
