// How much of the disk under the data folder is still free, asked at most once a second.

import { statfs } from 'node:fs/promises'
import { DomainError } from '../../domain/errors.ts'
import { SECOND } from '../../domain/time.ts'
import type { FreeSpace } from '../files-face.ts'

const MIB = 1024 * 1024

/** `isFull` tells whether a write failed on a full disk, and the disk has had no room since. */
export function createFreeSpace(options: { path: string; floor: number; isFull: () => boolean }): FreeSpace {
  const { path, floor, isFull } = options
  let readAt = Number.NEGATIVE_INFINITY
  let free = Number.POSITIVE_INFINITY
  let reading = Promise.resolve()

  async function read(): Promise<void> {
    const { bavail, bsize } = await statfs(path)
    free = bavail * bsize
  }

  function look(): Promise<void> {
    const now = performance.now()
    if (now - readAt > SECOND) {
      readAt = now
      reading = read()
    }
    return reading
  }

  async function requireFloor(): Promise<void> {
    if (isFull()) throw new DomainError('disk_full', 'The disk of this server is full; nothing was stored.')
    if (floor === 0) return
    await look()
    if (free >= floor) return
    const message = `The disk of this server is nearly full: less than --min-free-space (${Math.ceil(floor / MIB)} MiB) is free.`
    throw new DomainError('disk_full', message)
  }

  function hasRoom(): boolean {
    if (floor === 0) return !isFull()
    // A disk that cannot be measured is the next create's failure.
    look().catch(() => undefined)
    return !isFull() && free >= floor
  }

  async function measure() {
    const { bavail, blocks, bsize, ffree, files } = await statfs(path)
    // Some file systems, such as Btrfs, have no fixed number and say 0.
    const inodes = files === 0 ? null : { free: ffree, total: files }
    return { free: bavail * bsize, total: blocks * bsize, inodes }
  }

  return { require: requireFloor, hasRoom, isFull, measure }
}
