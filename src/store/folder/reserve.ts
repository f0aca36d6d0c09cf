// Disk space kept in reserve. On a full disk it is given up, so that retrieving, deleting and expiring still work.

import { existsSync, statfsSync, statSync, truncateSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fillRandomly } from '../../crypto/random.ts'
import type { Job, JobReport } from '../../domain/job.ts'

const MIB = 1024 * 1024
/** Twice the usual size of the write-ahead log, because emptying the log first writes the same amount to the database. */
const RESERVE_BYTES = 16 * MIB
const PIECE_BYTES = 64 * 1024
/** With less free space than this, the reserve itself would fill the disk. */
const MIN_FREE_BYTES = 2 * RESERVE_BYTES
/** What a start writes is less. */
const START_BYTES = MIB
const RETRY_MS = 1_000

export type Reserve = Job & {
  /** Frees the reserved space. Returns false when none is reserved. */
  spend(): boolean
  /** Whether the space was freed, and the disk has had no room since. */
  isSpent(): boolean
}

export type ReserveOptions = {
  path: string
  /** Bytes that are free on the disk. */
  measureFree: () => Promise<number>
}

/** Before a start on a full disk: gives the reserve up, so that the start can write what it has to. */
export function makeRoomToStart(path: string): void {
  const { bavail, bsize } = statfsSync(dirname(path))
  if (bavail * bsize < START_BYTES && existsSync(path)) truncateSync(path)
}

/** Fills the reserve in the background: after the start, and again whenever the disk has room. */
export function createReserve({ path, measureFree }: ReserveOptions): Reserve {
  let isFilled = existsSync(path) && statSync(path).size === RESERVE_BYTES
  // An empty one was given up, by this process or the last one.
  let isSpent = existsSync(path) && statSync(path).size === 0
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
    const free = await measureFree()
    // The freed reserve itself counts as free space, so look for more than that.
    if (free < MIN_FREE_BYTES) return
    isSpent = false
    try {
      await write()
    } catch (cause) {
      giveUp()
      throw cause
    }
    isFilled = true
    report.did()
  }

  /** Writes random bytes, which no file system can compress. */
  async function write(): Promise<void> {
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

  function giveUp(): void {
    if (existsSync(path)) truncateSync(path)
  }

  function spend(): boolean {
    if (!isFilled) return false
    isFilled = false
    isSpent = true
    giveUp()
    return true
  }

  function start(report: JobReport): void {
    timer = setInterval(refillOnce, RETRY_MS, report)
  }

  async function stop(): Promise<void> {
    clearInterval(timer)
    await filling
  }

  return { name: 'reserve', start, stop, spend, isSpent: () => isSpent }
}
