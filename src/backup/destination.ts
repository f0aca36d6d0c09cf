// Writes a backup to a new file, under another name until it is complete and on the disk.

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

/** Synchronizes after so many bytes, so that other processes never wait for more than these at the disk. */
const FLUSH_BYTES = 2 * 1024 * 1024

/**
 * An unfinished backup to which nothing was written for so long is of a process that was killed, wherever
 * that ran.
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
    // A write to a disk that is nearly full may take a part only.
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
    /** Gives the complete file its name, once it is on the disk. */
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

/** Refuses symbolic links too, also broken ones. */
function requireNothingAt(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  const remedy = found.isDirectory()
    ? `Name a file in it, such as ${join(path, 'oncebox-backup.tar')}`
    : 'Name a new file, or use - and ">" for a pipe'
  throw conflict(`${path} exists, and a backup overwrites nothing. ${remedy}.`)
}

/**
 * By the clock of the disk. What cannot be removed stays: somebody else may have put it into a shared folder.
 */
function removeLeft(own: string): void {
  const folder = dirname(own)
  const { mtimeMs: now } = lstatSync(own)
  for (const name of readdirSync(folder).filter((name) => PART.test(name))) {
    const part = join(folder, name)
    try {
      if (now - lstatSync(part).mtimeMs > LEFT_AFTER_MS) unlinkSync(part)
    } catch {
      // A folder, the file of another user, or gone meanwhile.
    }
  }
}

/** Fails if somebody else has made a file of that name meanwhile. */
function giveName(unfinished: string, path: string): void {
  try {
    linkSync(unfinished, path)
    atStep('before the backup loses its other name')
    rmSync(unfinished, { force: true })
  } catch (cause) {
    // Not every disk knows links.
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) throw cause
    renameSync(unfinished, path)
  }
  syncFolder(dirname(path))
}

/**
 * Throws `disk_full` unless the disk can take so many bytes. On the disk of the data folder, `spare` must
 * stay free.
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
  const reason = kept > 0 ? ', and --min-free-space of the server is kept there' : ''
  throw new DomainError(
    'disk_full',
    `The disk of ${path} has no room for this backup of ${mib(bytes)} MiB: ${mib(free)} MiB are free${reason}. Nothing was kept. ${MAKE_ROOM}`,
  )
}

function mib(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1)
}

/** Explains errors of the system with the path. DomainErrors pass. */
async function explained<T>(path: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw explainWriting(path, cause)
  }
}
