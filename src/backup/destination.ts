// Writes a backup to a new file, under a temporary name until it is complete and synced to the disk.

import {
  closeSync,
  fdatasync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  unlinkSync,
  write as writeTo,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { conflict, DomainError } from '../domain/errors.ts'
import { MINUTE } from '../domain/time.ts'
import { atStep } from '../store/durable-steps.ts'
import { syncFolder } from '../store/folder/durable-files.ts'
import { explainWriting, MAKE_ROOM } from './refusals.ts'

/** Call fdatasync after this many bytes, so that other processes never wait for more than that. */
const FLUSH_BYTES = 2 * 1024 * 1024

/**
 * An unfinished backup that was not written to for this long was left by a process that was killed, on this
 * machine or another.
 */
const LEFT_AFTER_MS = 10 * MINUTE
const PART = /\.oncebox-\d+\.part$/

export type Destination = Awaited<ReturnType<typeof openDestination>>

const flush = promisify(fdatasync)
const writePiece = promisify(writeTo)

/** Throws `conflict` if anything exists at the path, or if the path cannot be written. */
export async function openDestination(path: string) {
  const unfinished = `${path}.oncebox-${process.pid}.part`
  const file = await explained(path, () => {
    requireNothingAt(path)
    return openSync(unfinished, 'wx', 0o600)
  })
  let isOpen = true
  let unflushed = 0
  process.once('exit', abort)
  removeLeft(unfinished)

  /** Removes the unfinished file. Does nothing after `finish`. */
  function abort(): void {
    if (!isOpen) return
    close()
    rmSync(unfinished, { force: true })
  }

  function close(): void {
    isOpen = false
    process.off('exit', abort)
    closeSync(file)
  }

  async function writeAll(piece: Uint8Array): Promise<void> {
    // A write to a nearly full disk may be partial.
    for (let at = 0; at < piece.length; )
      at += (await writePiece(file, piece, at, piece.length - at, null)).bytesWritten
    unflushed += piece.length
    if (unflushed < FLUSH_BYTES) return
    unflushed = 0
    await flush(file)
  }

  return {
    abort,
    write: (piece: Uint8Array) => explained(path, () => writeAll(piece)),
    /** Syncs the complete file, then gives it its name. */
    finish: () =>
      explained(path, () => {
        atStep('before the backup is on the disk')
        fsyncSync(file)
        atStep('before the backup has its name')
        giveName(unfinished, path)
        atStep('after the backup has its name')
        close()
      }),
  }
}

/** Refuses symlinks too, even dangling ones. */
function requireNothingAt(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  const remedy = found.isDirectory()
    ? `Name a file in it, such as ${join(path, 'oncebox-backup.tar')}`
    : 'Name a new file, or use - and ">" for a pipe'
  throw conflict(`${path} exists, and a backup never overwrites a file. ${remedy}.`)
}

/**
 * Removes left-over unfinished backups. Judges their age by the clock of the disk. Skips those that cannot be
 * removed: in a shared folder they may belong to another user.
 */
function removeLeft(own: string): void {
  const folder = dirname(own)
  const { mtimeMs: now } = lstatSync(own)
  for (const name of readdirSync(folder).filter((name) => PART.test(name))) {
    const part = join(folder, name)
    try {
      if (now - lstatSync(part).mtimeMs > LEFT_AFTER_MS) unlinkSync(part)
    } catch {
      // Ignore a folder, another user's file, and a file that is gone.
    }
  }
}

/** Throws EEXIST if another process has created the file meanwhile. */
function giveName(unfinished: string, path: string): void {
  try {
    linkSync(unfinished, path)
    atStep('before the backup loses its other name')
    rmSync(unfinished, { force: true })
  } catch (cause) {
    // Some file systems have no hard links.
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) throw cause
    renameSync(unfinished, path)
  }
  syncFolder(dirname(path))
}

/**
 * Throws `disk_full` unless the disk has room for these bytes. On the disk of the data folder, `spare` bytes
 * must stay free.
 */
export function requireRoom(
  path: string,
  { bytes, dataDir, spare }: { bytes: number; dataDir: string; spare: number },
): void {
  const folder = dirname(path)
  const { bavail, bsize } = statfsSync(folder)
  const isSameDisk = statSync(folder).dev === statSync(dataDir).dev
  const kept = isSameDisk ? spare : 0
  const free = bavail * bsize
  if (free - kept >= bytes) return
  const reason = kept > 0 ? ', and the --min-free-space of the server must stay free there' : ''
  throw new DomainError(
    'disk_full',
    `The disk of ${path} has no room for this backup of ${mib(bytes)} MiB: ${mib(free)} MiB are free${reason}. Nothing was kept. ${MAKE_ROOM}`,
  )
}

function mib(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1)
}

/** Turns system errors into a DomainError that names the path. Other errors pass through. */
async function explained<T>(path: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw explainWriting(path, cause)
  }
}
