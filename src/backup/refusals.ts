// Why a backup is refused or cannot be written, in words that name its file.

import { conflict, DomainError } from '../domain/errors.ts'
import { codeOf, explainSystemError } from '../domain/system-errors.ts'

/** For a backup that was changed after it was made. */
export function damagedBackup(file: string, why: string): DomainError {
  return conflict(`The backup ${file} is damaged or was altered: ${why}.`)
}

/** For files that are no backup or of a later version, and for keys that do not fit. */
export function unfitBackup(file: string, why: string): DomainError {
  return conflict(`${file} cannot be used as a backup: ${why}.`)
}

const FULL = /^(ENOSPC|EDQUOT|EFBIG)$/
const REASONS: Record<string, string> = {
  ENOENT: 'its folder does not exist (any more)',
  EEXIST: 'somebody else has made it meanwhile, and a backup overwrites nothing',
}

export const MAKE_ROOM = 'Make room there, take a larger disk, or lower --backup-keep.'
const REMEDIES: Record<string, string> = {
  ENOSPC: MAKE_ROOM,
  EDQUOT: MAKE_ROOM,
  EFBIG: 'Use another file system there.',
  EROFS: 'Mount the disk for writing, and check it.',
  EACCES: 'Let the user that this runs as write there.',
  EPERM: 'Let the user that this runs as write there.',
  ENOENT: 'Mount the disk, or make the folder.',
  ENOTDIR: 'Name a folder.',
  EEXIST: 'Name a new file.',
}

/** What to do when the system refuses to write a backup. */
export function remedyFor(cause: unknown): string {
  return REMEDIES[codeOf(cause)] ?? 'Check the disk, or the network that it is on.'
}

/** In words that name the path. Passes what is no error of the system. */
export function explainWriting(path: string, cause: unknown): unknown {
  const code = codeOf(cause)
  const reason = REASONS[code] ?? explainSystemError(cause)
  if (cause instanceof DomainError || reason === null) return cause
  const message = `The backup ${path} cannot be written: ${reason}. Nothing of it was kept. ${remedyFor(cause)}`
  return Object.assign(new DomainError(FULL.test(code) ? 'disk_full' : 'conflict', message), { cause })
}
