// What the server asks of the process that touches the folder of backups, and what that process answers: JSON, a line each.
// Only that process does, because a disk that has gone or hangs would hold everything that waits for it.

import { DomainError } from '../../domain/errors.ts'
import { codeOf, reasonOf } from '../../domain/system-errors.ts'

export type BackupTask = {
  folder: string
  /** Whether a missing folder may be made: later a missing one is a disk that is not mounted. */
  mayMakeFolder: boolean
  /** To tell whether both are on the same disk. */
  dataDir: string
  /** Those that the record names, in the order in which they were made. */
  known: readonly { name: string; bytes: number }[]
  /** Names that were begun: complete ones are told as present, the unfinished are removed. */
  begun: readonly string[]
  /** Null to look only. */
  make: BackupOrder | null
}

export type BackupOrder = {
  name: string
  recipients: readonly string[]
  /** How many good ones stay. */
  keep: number
  keyFile: string | null
  tlsAuthorityKey: string | null
  /** Bytes that stay free on the disk of the data, which holds a copy for a while. */
  minFreeSpace: number
}

/** The reasons that a page can explain. */
export const FAILURE_CODES = [
  ...(['missing', 'full', 'read_only', 'denied', 'stalled', 'ended', 'data', 'other'] as const),
]

export type FailureCode = (typeof FAILURE_CODES)[number]

/** `words` is a part of a sentence in English, for the log. */
export type TaskFailure = { code: FailureCode; words: string }

export type TaskDone = {
  /** Of those known and begun, what is there and whole. */
  present: readonly { name: string; bytes: number }[]
  /** Those that were removed because newer ones are enough. */
  removed: readonly string[]
  /** Why one that may go is still there; null when all went. */
  notRemoved: string | null
  isSameDisk: boolean
  /** What of the database is damaged, and lost in the new one: then the earlier ones stay. */
  damage: readonly string[]
}

export type TaskAnswer =
  | { state: 'working' }
  | ({ state: 'done' } & TaskDone)
  | ({ state: 'failed' } & TaskFailure)

const CODES: Record<string, FailureCode> = {
  ENOENT: 'missing',
  ENOTDIR: 'missing',
  ENODEV: 'missing',
  ENXIO: 'missing',
  ESTALE: 'missing',
  EHOSTDOWN: 'missing',
  ENOTCONN: 'missing',
  EIO: 'stalled',
  ETIMEDOUT: 'stalled',
  ENOSPC: 'full',
  EDQUOT: 'full',
  EFBIG: 'full',
  EROFS: 'read_only',
  EACCES: 'denied',
  EPERM: 'denied',
}

/** Why a task failed: in the folder of backups, or where the data is. */
export function explainTaskFailure(cause: unknown, { folder, dataDir }: BackupTask): TaskFailure {
  const system = findSystemError(cause)
  const message = cause instanceof Error ? cause.message : String(cause)
  if (system === null) return { code: codeOfRefusal(cause, folder), words: sentence(message) }
  const words = cause === system ? reasonOf(system) : message
  const path = 'path' in system ? String(system.path) : folder
  const isOfData = `${path}/`.startsWith(`${dataDir}/`)
  return { code: isOfData ? 'data' : (CODES[codeOf(system)] ?? 'other'), words: sentence(words) }
}

/** The error of the system that a refusal of ours explains. */
function findSystemError(cause: unknown): Error | null {
  if (!(cause instanceof Error)) return null
  return /^E[A-Z]+$/.test(codeOf(cause)) ? cause : findSystemError(cause.cause)
}

/** A disk without enough room is found before anything is written to it. */
function codeOfRefusal(cause: unknown, folder: string): FailureCode {
  if (!(cause instanceof DomainError)) return 'other'
  return cause.code === 'disk_full' && cause.message.includes(folder) ? 'full' : 'data'
}

/** For a place within another sentence. */
function sentence(words: string): string {
  return words.replace(/\.$/, '')
}
