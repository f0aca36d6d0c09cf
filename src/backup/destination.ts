// Writes a backup to a new file, under another name until it is complete and on the disk.

import {
  closeSync,
  fdatasync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  unlinkSync,
  write as writeTo,
} from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { DomainError } from '../domain/errors.ts'
import { isAlive } from '../install/program-files.ts'
import { syncFolder } from '../store/folder/durable-files.ts'
import { explainWriting, MAKE_ROOM } from './refusals.ts'

/** Synchronizes after so many bytes, so that other processes never wait for more than these at the disk. */
const FLUSH_BYTES = 2 * 1024 * 1024

/** Called before and after each step: tests end the process there. */
type OnStep = (step: string) => void

export type Destination = {
  write(piece: Uint8Array): Promise<void>
  /** Gives the complete file its name, once it is on the disk. */
  finish(): Promise<void>
  /** Removes the unfinished file. Does nothing after `finish`. */
  abort(): void
}

export type FileDestination = Destination & {
  /** Throws `disk_full` unless the disk can take so many bytes. On the disk of the data folder, `spare` must stay free. */
  requireRoom(bytes: number, spare: { dataDir: string; bytes: number }): void
}

const flush = promisify(fdatasync)
const writePiece = promisify(writeTo)

/** Throws `conflict` if anything exists at the path, or if the path cannot be written. */
export function openFileDestination(path: string, onStep: OnStep = () => undefined): FileDestination {
  requireNothingAt(path)
  const unfinished = partOf(path)
  removeParts(path)
  const file = explained(path, () => openSync(unfinished, 'wx', 0o600))
  let isOpen = true
  let unflushed = 0
  process.once('exit', abort)

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

  async function write(piece: Uint8Array): Promise<void> {
    await attempt(path, async () => {
      for (let at = 0; at < piece.length; ) at += await writeSome(piece.subarray(at))
    })
  }

  async function writeSome(piece: Uint8Array): Promise<number> {
    const { bytesWritten } = await writePiece(file, piece, 0, piece.length, null)
    unflushed += bytesWritten
    if (unflushed >= FLUSH_BYTES) {
      unflushed = 0
      await flush(file)
    }
    return bytesWritten
  }

  async function finish(): Promise<void> {
    onStep('before the backup is on the disk')
    await attempt(path, async () => fsyncSync(file))
    onStep('before the backup has its name')
    explained(path, () => giveName(unfinished, { path, onStep }))
    onStep('after the backup has its name')
    close()
  }

  return { write, finish, abort, requireRoom: (bytes, spare) => requireRoom(path, { bytes, spare }) }
}

/** Refuses symbolic links too, also broken ones. */
function requireNothingAt(path: string): void {
  const found = explained(path, () => lstatSync(path, { throwIfNoEntry: false }))
  if (found === undefined) return
  const remedy = found.isDirectory()
    ? `Name a file in it, such as ${join(path, 'oncebox-backup.tar')}`
    : 'Name a new file, or use - and ">" for a pipe'
  throw new DomainError('conflict', `${path} exists, and a backup overwrites nothing. ${remedy}.`)
}

/** Holds host and process, so that later backups can tell whether it is still being written. */
function partOf(path: string): string {
  return `${path}.oncebox-${hostWord()}-${process.pid}.part`
}

function hostWord(): string {
  return hostname().replace(/[^A-Za-z0-9]/g, '') || 'host'
}

/**
 * Removes what killed backups by processes of this machine have left in the folder. What cannot be removed stays: somebody
 * else may have put it into a shared folder.
 */
function removeParts(path: string): void {
  const folder = explained(path, () => realpathSync(dirname(path)))
  for (const name of explained(path, () => readdirSync(folder))) {
    const [, host, pid] = PART.exec(name) ?? []
    const part = join(folder, name)
    if (host === hostWord() && !isWriting(Number(pid), part)) removeIfPossible(part)
  }
}

const PART = /\.oncebox-([A-Za-z0-9]+)-(\d+)\.part$/

/** Whether the name is of a backup that another machine writes, or has left unfinished. */
export function isPartOfOtherHost(name: string): boolean {
  const host = PART.exec(name)?.[1]
  return host !== undefined && host !== hostWord()
}

function removeIfPossible(part: string): void {
  try {
    unlinkSync(part)
  } catch {
    // A folder, or the file of another user.
  }
}

/** A later process may have the number of the one that was killed. Where the system tells, only an open file counts. */
function isWriting(pid: number, part: string): boolean {
  if (pid === process.pid || !isAlive(pid)) return false
  try {
    const open = `/proc/${pid}/fd`
    return readdirSync(open).some((name) => linkOf(join(open, name)) === part)
  } catch {
    return true
  }
}

/** Null for a file that was closed meanwhile. */
function linkOf(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}

/** Fails if somebody else has made a file of that name meanwhile. */
function giveName(unfinished: string, { path, onStep }: { path: string; onStep: OnStep }): void {
  try {
    linkSync(unfinished, path)
    onStep('before the backup loses its other name')
    rmSync(unfinished, { force: true })
  } catch (cause) {
    // Not every disk knows links.
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) throw cause
    renameSync(unfinished, path)
  }
  syncFolder(dirname(path))
}

type Room = { bytes: number; spare: { dataDir: string; bytes: number } }

function requireRoom(path: string, { bytes, spare }: Room): void {
  const folder = dirname(path)
  const { bavail, bsize } = statfsSync(folder)
  const isSameDisk = statSync(folder).dev === statSync(spare.dataDir).dev
  const kept = isSameDisk ? spare.bytes : 0
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
function explained<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    throw explainWriting(path, cause)
  }
}

async function attempt(path: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (cause) {
    throw explainWriting(path, cause)
  }
}
