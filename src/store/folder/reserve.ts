// Room that is kept for a full disk: given up, it lets people retrieve, delete and expire while creating is refused.

import { existsSync, statSync, truncateSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { fillRandomly } from '../../crypto/random.ts'

const MIB = 1024 * 1024
/** Twice what the write-ahead log grows to: emptying that takes as much in the database first. */
const RESERVE_BYTES = 16 * MIB
const PIECE_BYTES = 64 * 1024
/** On a disk with less left than this, keeping a reserve would be what fills it. */
const MIN_FREE_BYTES = 4 * RESERVE_BYTES
const RETRY_MS = 1_000

export type Reserve = {
  /** Gives the room up; false when there is none, or no more. */
  spend(): boolean
  /** Whether it was given up, and there has been no room since. */
  isSpent(): boolean
  stop(): Promise<void>
}

export type ReserveOptions = {
  path: string
  /** Bytes that are free on the disk. */
  measureFree: () => Promise<number>
  onError: (cause: unknown) => void
}

/** Fills it in the background, once the start is over and whenever there is room again. */
export function createReserve({ path, measureFree, onError }: ReserveOptions): Reserve {
  let isFilled = existsSync(path) && statSync(path).size === RESERVE_BYTES
  let isSpent = false
  let filling: Promise<void> | null = null
  const timer = setInterval(() => {
    if (isFilled || filling !== null) return
    filling = refill().finally(() => {
      filling = null
    })
  }, RETRY_MS)

  async function refill(): Promise<void> {
    if (isFilled) return
    try {
      const free = await measureFree()
      // What was given up is free at first, and no sign that others have made room.
      if (free >= 2 * RESERVE_BYTES) isSpent = false
      if (free < MIN_FREE_BYTES) return
      await write()
      isFilled = true
    } catch (cause) {
      giveUp()
      onError(cause)
    }
  }

  /** With bytes that no file system makes smaller. */
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

  async function stop(): Promise<void> {
    clearInterval(timer)
    await filling
  }

  return { spend, isSpent: () => isSpent, stop }
}
