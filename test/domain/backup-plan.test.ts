// Tests when scheduled backups are due, how they are named, and which are removed.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  backupName,
  delayAtStart,
  graceOf,
  ownBackups,
  retryDelay,
  surplusBackups,
} from '../../src/domain/backup-plan.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/domain/time.ts'

const NOW = Date.parse('2026-11-22T03:00:00.000Z')
const delay = (last: number | null, { every = DAY, now = NOW } = {}) => delayAtStart({ last, now, every })

describe('the first backup of a start', () => {
  test('is due half a minute later when there is no backup yet, or when one was missed', () => {
    expect([null, NOW - 9 * DAY, NOW - DAY].map((last) => delay(last))).toEqual(Array(3).fill(30 * SECOND))
  })

  test('is due a day after the start of the last one, even if the server restarts every hour', () => {
    expect([1, 23].map((hours) => delay(NOW - hours * HOUR))).toEqual([23 * HOUR, HOUR])
  })

  test('waits no longer than the interval of backups', () => {
    expect(delay(null, { every: 2 * SECOND })).toBe(2 * SECOND)
  })

  test('ignores a last backup that a wrong clock dated years ahead', () => {
    expect(delay(NOW + 900 * DAY)).toBe(30 * SECOND)
  })

  test('is due within a day, whatever the clock says', () => {
    fc.assert(
      fc.property(fc.integer(), (last) => {
        expect(delay(last)).toBeWithin(30 * SECOND, DAY + 1)
      }),
    )
  })
})

test('a failed backup is retried after a minute, with backoff up to a quarter of an hour', () => {
  expect([1, 2, 3, 4, 5, 50].map((failures) => retryDelay(failures, DAY))).toEqual(
    [1, 2, 4, 8, 15, 15].map((minutes) => minutes * MINUTE),
  )
  expect(retryDelay(9, 5 * SECOND)).toBe(5 * SECOND)
})

test('a backup is overdue when it is a quarter of the interval late, within a minute and six hours', () => {
  expect([DAY, 4 * HOUR, SECOND].map(graceOf)).toEqual([6 * HOUR, HOUR, MINUTE])
})

test('a name contains the time and the mark of the data folder, and sorts by time', () => {
  const backup = { at: NOW, mark: 'k3f9xq' }
  expect([false, true].map((isSealed) => backupName({ ...backup, isSealed }))).toEqual([
    'oncebox-backup-2026-11-22T03-00-00Z-k3f9xq.tar',
    'oncebox-backup-2026-11-22T03-00-00Z-k3f9xq.tar.age',
  ])
  expect(backupName({ at: NOW, isSealed: false })).toBe('oncebox-backup-2026-11-22T03-00-00Z.tar')
})

test('a server recognises only backups of its own data folder', () => {
  const own = ['a', 'b'].map((_, day) =>
    backupName({ at: NOW - day * DAY, mark: 'k3f9xq', isSealed: day > 0 }),
  )
  const foreign = [
    'photo.jpg',
    'oncebox-backup-2026-11-22T03-00-00Z.tar',
    'oncebox-backup-2026-11-22T03-00-00Z-aaaaaa.tar',
    'oncebox-backup-2026-11-22T03-00-00Z-k3f9xq.tar.oncebox-box-7.part',
    'my-oncebox-backup-2026-11-22T03-00-00Z-k3f9xq.tar',
  ]
  expect(ownBackups([...foreign, ...own], 'k3f9xq')).toEqual(own.reverse())
})

describe('the backup to remove', () => {
  const dated = (year: number) => backupName({ at: Date.UTC(year, 1), mark: 'aaaaaa', isSealed: false })
  const surplus = (years: number[], { made, keep }: { made: number; keep: number }) =>
    surplusBackups(years.map(dated), { made: dated(made), keep })

  test('is the oldest beyond the number to keep', () => {
    expect(surplus([2021, 2022, 2023, 2024], { made: 2024, keep: 2 })).toEqual([2021, 2022].map(dated))
    expect(surplus([2023, 2024], { made: 2024, keep: 2 })).toEqual([])
  })

  test('is never the new one, whatever the clock was before', () => {
    expect(surplus([2024, 2090, 2091], { made: 2024, keep: 1 })).toEqual([2090, 2091].map(dated))
    expect(surplus([2022, 2024, 2090], { made: 2024, keep: 2 })).toEqual([dated(2090)])
  })
})
