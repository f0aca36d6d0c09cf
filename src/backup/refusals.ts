// Errors for a backup that is refused or cannot be written. All of them name the file.

import { conflict, DomainError } from '../domain/errors.ts'
import { codeOf, explainSystemError } from '../domain/system-errors.ts'

/** The error for a backup that was changed after it was made. */
export function damagedBackup(file: string, why: string): DomainError {
  return conflict(`The backup ${file} is damaged or was altered: ${why}.`)
}

/** The error for a file that is not a backup or from a later version, and for a wrong key. */
export function unfitBackup(file: string, why: string): DomainError {
  return conflict(`${file} cannot be used as a backup: ${why}.`)
}

const FULL = /^(ENOSPC|EDQUOT|EFBIG)$/
const REASONS: Record<string, string> = {
  ENOENT: 'its folder does not exist (any more)',
  EEXIST: 'another process has created it meanwhile, and a backup never overwrites a file',
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

/** Returns the remedy for a system error on writing a backup. */
export function remedyFor(cause: unknown): string {
  return REMEDIES[codeOf(cause)] ?? 'Check the disk, or the network that it is on.'
}

/** Turns a system error into a DomainError that names the path. Returns any other cause unchanged. */
export function explainWriting(path: string, cause: unknown): unknown {
  const code = codeOf(cause)
  const reason = REASONS[code] ?? explainSystemError(cause)
  if (cause instanceof DomainError || reason === null) return cause
  const message = `The backup ${path} cannot be written: ${reason}. Nothing of it was kept. ${remedyFor(cause)}`
  return Object.assign(new DomainError(FULL.test(code) ? 'disk_full' : 'conflict', message), { cause })
}
