// Checksums of rows: when the disk has altered a byte, reading its row fails instead of returning a wrong value.
//
// SQLite detects damage to the structure of its file, not to the values in it. Checksums are against accidents, not attacks:
// an attacker who can write to the database can write a fitting checksum. Sealed values are authenticated and have none.

import { DamageError } from '../../../domain/errors.ts'
import { codeOf } from '../../../domain/system-errors.ts'

export type Value = number | string | boolean | null | Uint8Array

/** The checksum of a stored row; null when the row was written before there were checksums. */
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

/** Throws DamageError when a row is not as it was written. `name` names the row to the operator. */
export function requireIntactRow(row: Summed, expected: number, name: string): void {
  if (!isIntact(row, expected)) throw new DamageError(name)
}

/** Whether the cause is damaged data, as opposed to a temporary failure of the disk. */
export function isDamage(cause: unknown): boolean {
  return cause instanceof DamageError || /^SQLITE_(CORRUPT|CONSTRAINT)/.test(codeOf(cause))
}
