// Rows for the files of each push, and rows for files that are due for removal, which make scans of the
// folder unnecessary.

import { DomainError } from '../../domain/errors.ts'
import { grantLifetime } from '../../domain/files.ts'
import type { SealedFile } from '../sealed-contract.ts'
import { addTo, causing, type RowOf, select, statement } from '../statements.ts'
import { affected, all, has, run, type Step } from '../steps.ts'
import { filesDue, pushFiles } from '../tables.ts'

/**
 * When the files of a push become due: at a time; or when the grants of its last view end, but at the given
 * time at the latest.
 */
type DueTime = { at: number } | { viewedAt: number; until: number }

const OF_PUSH = select(pushFiles, 'WHERE push_id = $1 ORDER BY n')
const REMOVE_OF_PUSH = statement('DELETE FROM push_files WHERE push_id = $1')
const GRANTED = select(filesDue, 'WHERE push_id = $1 AND at > $2 LIMIT 1')
const END_GRANTS = causing(
  'due',
  statement('UPDATE files_due SET at = $2, push_id = NULL WHERE push_id = $1 AND at > $2'),
)
const ENTER_UPLOAD = statement('INSERT INTO files_due (id, node) VALUES ($1, $2)')
const TAKE_UPLOAD = statement<{ id: string }>(
  'DELETE FROM files_due WHERE id = $1 AND at IS NULL RETURNING id',
)
const addFile = addTo(pushFiles)
const addDue = addTo(filesDue, 'due')

export function listFiles(pushId: number): Step<RowOf<typeof pushFiles>[]> {
  return all(OF_PUSH, pushId)
}

/** Enters a file that is about to be uploaded on a node, before its first byte is written. */
export function enterUpload(id: string, node: Uint8Array): Step<void> {
  return run(ENTER_UPLOAD, id, node)
}

/**
 * Attaches uploads to a push, so that they are no longer due. Throws `overloaded` if one was considered
 * abandoned.
 */
export function* attachFiles(pushId: number, files: readonly SealedFile[]): Step<void> {
  for (const [n, file] of files.entries()) {
    if (!(yield* affected(TAKE_UPLOAD, file.fileId))) throw filesAreGone()
    yield* addFile({ pushId, n, ...file })
  }
}

function filesAreGone(): DomainError {
  const message =
    'This server was cut off from its data for too long, and the files are gone: send them again.'
  return new DomainError('overloaded', message, { retryAfter: 1 })
}

/** Deletes the rows of a push's files, with their names, and makes the files due. */
export function* releaseFiles(pushId: number, when: DueTime): Step<void> {
  for (const { fileId: id, size } of yield* listFiles(pushId)) {
    if ('at' in when) yield* addDue({ id, at: when.at, pushId: null, node: null })
    else {
      const at = Math.min(when.viewedAt + grantLifetime(size), when.until)
      yield* addDue({ id, at, pushId, node: null })
    }
  }
  yield* run(REMOVE_OF_PUSH, pushId)
}

/** Whether grants of a last view are still valid. */
export function hasGranted(pushId: number, now: number): Step<boolean> {
  return has(GRANTED, pushId, now)
}

/** Makes the files due at once that were kept for downloads after the last view. */
export function endGrants(pushId: number, now: number): Step<void> {
  return run(END_GRANTS, pushId, now)
}
