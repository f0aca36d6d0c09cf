// The disk under the data folder: how much is free, and a reserve file. On a full disk the reserve is freed,
// so that retrieving, deleting and expiring still work.

import { constants, existsSync, statfsSync, statSync, truncateSync } from 'node:fs'
import { access, open, rm, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fillRandomly } from '../../crypto/random.ts'
import { DomainError } from '../../domain/errors.ts'
import type { Job, JobReport } from '../../domain/job.ts'
import { reasonOf } from '../../domain/system-errors.ts'
import { SECOND } from '../../domain/time.ts'
import type { FreeSpace } from '../files-contract.ts'
import { NEW } from './durable-files.ts'

const MIB = 1024 * 1024
/**
 * Twice the usual size of the write-ahead log, because emptying the log first writes the same amount to the
 * database.
 */
const RESERVE_BYTES = 16 * MIB
const PIECE_BYTES = 64 * 1024
/** The free space below which the reserve itself would fill the disk. */
const MIN_FREE_BYTES = 2 * RESERVE_BYTES
/** An upper bound on what a start writes. */
const START_BYTES = MIB

/**
 * Creates the check of free space. `isFull` returns whether a write failed on a full disk, and there was no
 * room since.
 */
export function createFreeSpace(options: { path: string; floor: number; isFull: () => boolean }): FreeSpace {
  const { path, floor, isFull } = options
  let readAt = Number.NEGATIVE_INFINITY
  let free = Number.POSITIVE_INFINITY
  /** The running measurement, or the last one if it failed. */
  let reading: Promise<void> | null = null

  async function read(): Promise<void> {
    const { bavail, bsize } = await statfs(path)
    free = bavail * bsize
    reading = null
  }

  /** Measures the disk, at most once a second. */
  function look(): Promise<void> | null {
    const now = performance.now()
    if (now - readAt > SECOND) {
      readAt = now
      reading = read()
    }
    return reading
  }

  function requireFloor(): Promise<void> | null {
    if (isFull()) throw new DomainError('disk_full', 'The disk of this server is full; nothing was stored.')
    const measured = floor === 0 ? null : look()
    if (measured !== null) return measured.then(requireFree)
    requireFree()
    return null
  }

  function requireFree(): void {
    if (free >= floor) return
    const message = `The disk of this server is nearly full: less than --min-free-space (${Math.ceil(floor / MIB)} MiB) is free.`
    throw new DomainError('disk_full', message)
  }

  function hasRoom(): boolean {
    if (floor === 0) return !isFull()
    // Ignore a failure: the next create reports a disk that cannot be measured.
    look()?.catch(() => undefined)
    return !isFull() && free >= floor
  }

  async function measure() {
    const { bavail, blocks, bsize, ffree, files } = await statfs(path)
    // Some file systems, such as Btrfs, have no fixed number and report 0.
    const inodes = files === 0 ? null : { free: ffree, total: files }
    return { free: bavail * bsize, total: blocks * bsize, inodes }
  }

  return { require: requireFloor, hasRoom, isFull, measure }
}

/** Why one of these paths cannot be written to; null when all can. */
export async function findWriteProblem(written: readonly string[]): Promise<string | null> {
  try {
    await Promise.all(written.map((place) => access(place, constants.W_OK)))
    return null
  } catch (cause) {
    return reasonOf(cause)
  }
}

/**
 * Returns why no file can be created in a folder; null if one can. Writes one byte, syncs it and removes it:
 * access(2) succeeds even on a disk that is read-only after an error.
 */
export async function findTrialProblem(folder: string): Promise<string | null> {
  const path = join(folder, `trial.${process.pid}${NEW}`)
  try {
    await using trial = await open(path, 'w', 0o600)
    await trial.write('x')
    await trial.sync()
    return null
  } catch (cause) {
    return reasonOf(cause)
  } finally {
    await rm(path, { force: true }).catch(() => undefined)
  }
}

type Reserve = Job & {
  /** Frees the reserved space. Returns false when none is reserved. */
  spend(): boolean
  /** Whether the space was freed, and the disk has had no room since. */
  isSpent(): boolean
}

/** Frees the reserve before a start on a full disk, so that the start can write. */
export function makeRoomToStart(path: string): void {
  if (freeBytes(dirname(path)) < START_BYTES) giveUp(path)
}

/** Returns the free bytes on the disk of a folder. */
export function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path)
  return bavail * bsize
}

function giveUp(path: string): void {
  if (existsSync(path)) truncateSync(path)
}

/** Fills the reserve in the background: after the start, and again whenever the disk has room. */
export function createReserve(path: string): Reserve {
  const found = statSync(path, { throwIfNoEntry: false })?.size
  let isFilled = found === RESERVE_BYTES
  // An empty reserve was freed by the last process, or that process was killed when it began to fill it.
  let isSpent = found === 0 && freeBytes(dirname(path)) < MIN_FREE_BYTES
  let filling: Promise<void> | null = null
  let timer: Timer | undefined

  function refillOnce(report: JobReport): void {
    if (isFilled || filling !== null) return
    filling = refill(report)
      .catch(report.failed)
      .finally(() => {
        filling = null
      })
  }

  async function refill(report: JobReport): Promise<void> {
    // The freed reserve itself counts as free space, so require more than its size.
    const { bavail, bsize } = await statfs(dirname(path))
    if (bavail * bsize < MIN_FREE_BYTES) return
    isSpent = false
    try {
      await writeReserve(path)
    } catch (cause) {
      giveUp(path)
      throw cause
    }
    isFilled = true
    report.did()
  }

  function spend(): boolean {
    if (!isFilled) return false
    isFilled = false
    isSpent = true
    giveUp(path)
    return true
  }

  function start(report: JobReport): void {
    timer = setInterval(refillOnce, SECOND, report)
  }

  async function stop(): Promise<void> {
    clearInterval(timer)
    await filling
  }

  return { name: 'reserve', start, stop, spend, isSpent: () => isSpent }
}

/** Writes random bytes, which no file system can compress. */
async function writeReserve(path: string): Promise<void> {
  const file = await open(path, 'w', 0o600)
  try {
    const piece = Buffer.alloc(PIECE_BYTES)
    for (let written = 0; written < RESERVE_BYTES; written += PIECE_BYTES)
      await file.write(fillRandomly(piece))
    await file.sync()
  } finally {
    await file.close()
  }
}
