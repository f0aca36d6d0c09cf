// When the disk of the server counts as full.

import { expect, test } from 'bun:test'
import { DomainError } from '../../../../src/domain/errors.ts'
import { MINUTE } from '../../../../src/domain/time.ts'
import { createFullness } from '../../../../src/store/postgres/engine/fullness.ts'

test('a disk is full from the first refusal until none has come for five minutes, and that is told once', () => {
  let clock = 0
  let told = 0
  const onFull = () => {
    told += 1
  }
  const fullness = createFullness({ elapsed: () => clock, onFull })
  const full = new DomainError('disk_full', 'The disk is full.')
  fullness.note(new DomainError('overloaded', 'Nobody answers.'))
  expect(fullness.isFull()).toBe(false)
  expect(fullness.note(full)).toBe(full)
  clock += 4 * MINUTE
  fullness.note(full)
  clock += 4 * MINUTE
  expect([fullness.isFull(), told]).toEqual([true, 1])
  clock += MINUTE
  expect(fullness.isFull()).toBe(false)
  fullness.note(full)
  expect([fullness.isFull(), told]).toEqual([true, 2])
})
