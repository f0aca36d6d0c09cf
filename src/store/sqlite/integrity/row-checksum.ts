// Checksums of rows: a byte that the disk altered is noticed when its row is read, and never taken for the truth.
//
// SQLite notices damage to the structure of its file, not to the values in it. This is for accidents: whoever can write to
// the database can write a checksum as well. What is sealed vouches for itself and has none.

import { DamageError } from '../../../domain/errors.ts'
import { codeOf } from '../../../domain/system-errors.ts'

export type Value = number | string | boolean | null | Uint8Array

/** A row as it is read: null in one that was written before there were checksums. */
type Summed = { checksum: number | null }

const MAX_VALUES = 32
const numbers = new Float64Array(MAX_VALUES)
const bytes = new Uint8Array(numbers.buffer)

/** CRC-32 of the values, each as a double; a text or bytes count by their own CRC-32. Throws for more than 32 values. */
export function checksumOf(values: readonly Value[]): number {
  if (values.length > MAX_VALUES) throw new RangeError(`a checksum takes ${MAX_VALUES} values at most`)
  numbers.fill(0)
  for (let index = 0; index < values.length; index += 1) numbers[index] = numberOf(values[index] as Value)
  return Bun.hash.crc32(bytes)
}

function numberOf(value: Value): number {
  if (typeof value === 'number') return value
  if (value === null) return Number.NEGATIVE_INFINITY
  return typeof value === 'boolean' ? Number(value) : Bun.hash.crc32(value)
}

export function isIntact({ checksum }: Summed, expected: number): boolean {
  return checksum === null || checksum === expected
}

/** Throws, for the log, when a row is not as it was written; `name` tells the operator which. */
export function requireIntactRow(row: Summed, expected: number, name: string): void {
  if (!isIntact(row, expected)) throw new DamageError(name)
}

/** Of what was read or written, not of the disk as a whole, which may be well again in a moment. */
export function isDamage(cause: unknown): boolean {
  return cause instanceof DamageError || /^SQLITE_(CORRUPT|CONSTRAINT)/.test(codeOf(cause))
}
