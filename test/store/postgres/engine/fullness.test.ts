// When the disk of the server counts as full.

import { expect, test } from 'bun:test'
import { DomainError } from '../../../../src/domain/errors.ts'
import { MINUTE } from '../../../../src/domain/time.ts'
import { createFullness } from '../../../../src/store/postgres/engine/fullness.ts'

test('a disk is full from the first refusal until none has come for five minutes, and both are told once', () => {
  let clock = 0
  let told = 0
  const onFull = () => {
    told += 1
  }
  const lengths: number[] = []
  const fullness = createFullness({
    elapsed: () => clock,
    onFull,
    onRoom: (fullFor) => lengths.push(fullFor),
  })
  const full = new DomainError('disk_full', 'The disk is full.')
  fullness.note(new DomainError('overloaded', 'Nobody answers.'))
  expect(fullness.isFull()).toBe(false)
  expect(fullness.note(full)).toBe(full)
  clock += 4 * MINUTE
  fullness.note(full)
  clock += 4 * MINUTE
  fullness.changed()
  expect([fullness.isFull(), told, lengths]).toEqual([true, 1, []])
  clock += MINUTE
  expect(fullness.isFull()).toBe(false)
  fullness.changed()
  fullness.changed()
  expect(lengths).toEqual([4 * MINUTE])
  fullness.note(full)
  expect([fullness.isFull(), told]).toEqual([true, 2])
})
