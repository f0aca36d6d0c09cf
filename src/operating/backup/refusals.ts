// Why a backup is refused, in words that name its file.

import { DomainError } from '../../domain/errors.ts'

/** For a backup that was changed after it was made. */
export function damagedBackup(file: string, why: string): DomainError {
  return new DomainError('conflict', `The backup ${file} is damaged or was altered: ${why}.`)
}

/** For files that are no backup or of a later version, and for keys that do not fit. */
export function unfitBackup(file: string, why: string): DomainError {
  return new DomainError('conflict', `${file} cannot be used as a backup: ${why}.`)
}
