// Checks the write-ahead log that a killed server left, before SQLite reads it.
//
// SQLite reads the log up to the first frame with a wrong checksum and silently drops the rest. That is right after a power
// cut, which leaves the last transaction half written. But a wrong frame with whole transactions after it had reached the
// disk, was acknowledged, and was altered since. https://sqlite.org/fileformat2.html#walformat

import { readFileSync, statSync } from 'node:fs'
import { DomainError } from '../../../domain/errors.ts'
import { codeOf } from '../../../domain/system-errors.ts'

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const MAGIC_LITTLE = 0x377f0682
const MAGIC_BIG = 0x377f0683
/** The log is usually emptied at 8 MB. One that has grown far beyond takes too long to read. */
const MAX_BYTES = 256 * 1024 * 1024

/** Two words of 32 bits. The sum of each frame continues from that of the frame before it. */
type Sum = readonly [number, number]

/** Throws `conflict` when acknowledged commits in the log of the database at `path` cannot be read any more. */
export function requireIntactLog(path: string): void {
  const log = `${path}-wal`
  const at = findDamage(readLog(log))
  if (at === null) return
  throw new DomainError(
    'conflict',
    `The log ${log} is damaged at byte ${at}; what was committed after it cannot be read. Restore the folder from a ` +
      `backup, or go on with what was committed before: truncate -s ${at} ${log}`,
  )
}

/** Empty when there is no log, or one that is too large to check. */
function readLog(log: string): Buffer {
  try {
    return statSync(log).size <= MAX_BYTES ? readFileSync(log) : Buffer.alloc(0)
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return Buffer.alloc(0)
    throw cause
  }
}

/** The offset of a damaged part that has whole transactions after it; null when there is none. */
export function findDamage(log: Buffer): number | null {
  if (log.length < HEADER_BYTES) return null
  const magic = log.readUInt32BE(0)
  const isBig = magic === MAGIC_BIG
  const header = sum(log.subarray(0, 24), [0, 0], isBig)
  if ((magic !== MAGIC_LITTLE && !isBig) || !equal(header, readSum(log, 24))) {
    // A header of zeros was never written, so nothing after it was committed.
    return log.subarray(0, HEADER_BYTES).every((byte) => byte === 0) ? null : 0
  }
  const frameBytes = FRAME_HEADER_BYTES + log.readUInt32BE(8)
  const salts = log.subarray(16, 24)
  let before = header
  let damage: number | null = null
  let isAfterCommit = false
  for (let at = HEADER_BYTES; at + frameBytes <= log.length; at += frameBytes) {
    const frame = log.subarray(at, at + frameBytes)
    const isOfThisLog = salts.equals(frame.subarray(8, 16))
    const isWhole = isOfThisLog && equal(sumOfFrame(frame, before, isBig), readSum(frame, 16))
    // A transaction is written only after the one before it has reached the disk.
    if (isWhole && isAfterCommit && damage !== null) return damage
    if (!isWhole) damage ??= at
    isAfterCommit = isOfThisLog && frame.readUInt32BE(4) !== 0
    before = readSum(frame, 16)
  }
  return null
}

function sumOfFrame(frame: Buffer, before: Sum, isBig: boolean): Sum {
  return sum(frame.subarray(FRAME_HEADER_BYTES), sum(frame.subarray(0, 8), before, isBig), isBig)
}

function sum(bytes: Buffer, [first, second]: Sum, isBig: boolean): Sum {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let one = first
  let two = second
  for (let at = 0; at < bytes.length; at += 8) {
    one = (one + words.getUint32(at, !isBig) + two) >>> 0
    two = (two + words.getUint32(at + 4, !isBig) + one) >>> 0
  }
  return [one, two]
}

function readSum(bytes: Buffer, at: number): Sum {
  return [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)]
}

function equal([a, b]: Sum, [c, d]: Sum): boolean {
  return a === c && b === d
}
