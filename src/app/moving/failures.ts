// What an operator is told when a database fails in the middle of a move.

import { resolve } from 'node:path'
import { DomainError, isDomainError } from '../../domain/errors.ts'
import { codeOf } from '../../domain/system-errors.ts'
import { dataFolder } from '../../store/folder/data-folder.ts'
import { explainFailure } from '../../store/folder/sqlite-failures.ts'
import { nameOf } from './ends.ts'
import type { MoveWish } from './wish.ts'

const GO_ON = 'Then run the same command again: it goes on where this one stopped.'

/** Returns errors that are no database's as they are. */
export function explainMove(cause: unknown, { from, to }: Pick<MoveWish, 'from' | 'to'>): unknown {
  if (isDomainError(cause, 'files_unreachable'))
    return new DomainError(
      'conflict',
      `The bucket cannot be reached, or does not work. See that it does. ${GO_ON}`,
    )
  if (isDomainError(cause, 'disk_full'))
    return new DomainError(
      'conflict',
      `There is no room left for the files: make room where they go. ${GO_ON}`,
    )
  if (!(cause instanceof Error) || cause instanceof DomainError) return cause
  const ends = [to, from]
  const folder = ends.find(({ kind }) => kind === 'folder')
  if (codeOf(cause).startsWith('SQLITE_') && folder?.kind === 'folder') {
    const explained = explainFailure(dataFolder(resolve(folder.path)).database, cause)
    return explained instanceof Error ? new DomainError('conflict', `${explained.message} ${GO_ON}`) : cause
  }
  const server = ends.find(({ kind }) => kind === 'postgres')
  if (!codeOf(cause).startsWith('ERR_POSTGRES_') || server === undefined) return cause
  return new DomainError(
    'conflict',
    `${nameOf(server)} failed: ${cause.message}. See that it runs and has room on its disk. ${GO_ON}`,
  )
}
