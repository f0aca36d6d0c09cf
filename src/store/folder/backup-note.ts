// The note in the data folder about the backups that its server makes by itself: where they go, and how the last one was.

import { join } from 'node:path'
import { randomBase32 } from '../../crypto/random.ts'
import type { MadeBackup } from '../../domain/backup-plan.ts'
import { DomainError } from '../../domain/errors.ts'
import { createClosedFile } from './closed-file.ts'

export type BackupNote = {
  /** Of this data folder, by chance. Part of the names of its backups and of its marks in their folders. */
  mark: string
  /** Those that got the mark. */
  folders: readonly string[]
  last: (MadeBackup & { folder: string }) | null
}

/** A note that is missing is a new one. Throws `conflict` for one that cannot be read. */
export async function readBackupNote(dataDir: string): Promise<BackupNote> {
  const { path, read } = fileIn(dataDir)
  const text = await read()
  if (text === null) return { mark: randomBase32(6), folders: [], last: null }
  const note = parseNote(text)
  if (note !== null) return note
  throw new DomainError(
    'conflict',
    `${path} is damaged. Remove it: backups go on then, and the earlier ones stay until you remove them.`,
  )
}

export async function writeBackupNote(dataDir: string, note: BackupNote): Promise<void> {
  await fileIn(dataDir).write(`${JSON.stringify(note)}\n`)
}

function fileIn(dataDir: string) {
  return createClosedFile(join(dataDir, 'backups.json'))
}

function parseNote(text: string): BackupNote | null {
  const { mark, folders, last }: Record<string, unknown> = { ...objectIn(text) }
  if (typeof mark !== 'string' || !/^[0-9a-z]{1,16}$/.test(mark) || !Array.isArray(folders)) return null
  return { mark, folders: folders.filter((folder) => typeof folder === 'string'), last: parseLast(last) }
}

function objectIn(text: string): object {
  try {
    const read: unknown = JSON.parse(text)
    return typeof read === 'object' && read !== null ? read : {}
  } catch {
    return {}
  }
}

function parseLast(read: unknown): BackupNote['last'] {
  if (typeof read !== 'object' || read === null) return null
  const { folder, name, at, bytes, durationMs, kept, isSameDisk }: Record<string, unknown> = { ...read }
  const areWords = typeof folder === 'string' && typeof name === 'string' && typeof isSameDisk === 'boolean'
  const areNumbers = typeof at === 'number' && typeof bytes === 'number' && typeof durationMs === 'number'
  if (!areWords || !areNumbers || typeof kept !== 'number') return null
  return { folder, name, at, bytes, durationMs, kept, isSameDisk }
}
