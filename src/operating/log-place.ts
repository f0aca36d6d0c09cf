// Whose file the log may go to. In a folder where others may write, such as /tmp, another user may have put a file there to
// read the log, or a link to have the log written elsewhere.

import { constants, lstatSync, type Stats, statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { DomainError } from '../domain/errors.ts'
import { reasonOf } from '../domain/system-errors.ts'
import { type Belonging, requireOwn } from '../store/folder/ownership.ts'

const MODE = 0o600

const BELONGING: Belonging = {
  what: 'The log file',
  remedy:
    'Who put it there may read the log. Name a file in a folder of your own with --log-file, or take this one over ' +
    '(chown -h {me}) when you know where it comes from.',
}

/**
 * Throws `conflict` for a pipe, because opening it waits until somebody reads it, and for a file or link that belongs to
 * another user than root. A device is nobody's file.
 */
export function requireLogPlace(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isFIFO()) {
    const remedy = 'remove it, or name another --log-file.'
    throw new DomainError('conflict', `The log file ${path} is a pipe: ${remedy}`)
  }
  if (found?.isCharacterDevice()) return
  requireOwn(path, BELONGING, { mayBeRoots: true })
}

/** Opens the file to append to it, and makes it when there is none. Throws `conflict` when that cannot or must not be. */
export async function openLog(path: string): Promise<FileHandle> {
  const file = await openToAppend(path)
  if (isTrusted(await file.stat())) return file
  await file.close()
  throw cannotOpen(path, 'another user put it there just now')
}

async function openToAppend(path: string): Promise<FileHandle> {
  const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW = 0 } = constants
  try {
    requireLogPlace(path)
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
    // Does not follow a link that another user makes between the look and the opening.
    return await open(path, O_APPEND | O_CREAT | O_WRONLY | (isLink ? 0 : O_NOFOLLOW), MODE)
  } catch (cause) {
    throw cause instanceof DomainError ? cause : cannotOpen(path, reasonOf(cause))
  }
}

/** Whether root or the user of this process owns what was opened. A device is nobody's file; Windows knows no such owners. */
function isTrusted(opened: Stats): boolean {
  const me = process.geteuid?.()
  return me === undefined || opened.isCharacterDevice() || [me, 0].includes(opened.uid)
}

function cannotOpen(path: string, reason: string): DomainError {
  const remedy = 'Make its folder, or let the user of this process write there; or name another --log-file.'
  return new DomainError('conflict', `Cannot open the log file ${path}: ${reason}. ${remedy}`)
}
