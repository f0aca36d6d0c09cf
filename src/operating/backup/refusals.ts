// Why a backup is refused, in words that name its file.

import { DomainError } from '../../domain/errors.ts'

/** For what no backup of ours looks like unless something happened to it. */
export function damagedBackup(file: string, why: string): DomainError {
  return new DomainError('conflict', `The backup ${file} is damaged or was altered: ${why}.`)
}

/** For files that are whole, but of another kind or time, and for keys that do not fit. */
export function unfitBackup(file: string, why: string): DomainError {
  return new DomainError('conflict', `${file} cannot be used as a backup: ${why}.`)
}
