// When a server's own backups are due: by the clock, whatever is done to it and however often the server starts.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  type BackupHistory,
  backupName,
  isBackupOverdue,
  surplusBackups,
  timeOfBackup,
  timeToNextBackup,
} from '../../src/domain/backup-plan.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/domain/time.ts'

const NOW = Date.parse('2026-11-22T03:00:00.000Z')
const FRESH: BackupHistory = { startedUp: 0, last: null, failures: 0, failedUp: 0 }
const at = (time: number, up: number) => ({ every: DAY, clocks: { time, up } })

describe('the next backup', () => {
  test('is made half a minute after the start when there is none', () => {
    expect(timeToNextBackup(FRESH, at(NOW, 0))).toBe(30 * SECOND)
    expect(timeToNextBackup(FRESH, at(NOW, 30 * SECOND))).toBe(0)
  })

  test('is due a day after the last one began, also for a server that is started every hour', () => {
    const last = { at: NOW, up: null }
    expect(timeToNextBackup({ ...FRESH, last }, at(NOW + 23 * HOUR, 0))).toBe(HOUR)
    expect(timeToNextBackup({ ...FRESH, last }, at(NOW + 24 * HOUR, 30 * SECOND))).toBe(0)
  })

  test('is made soon after the start when it was missed, and not at once', () => {
    const missed = { ...FRESH, last: { at: NOW - 9 * DAY, up: null } }
    expect(timeToNextBackup(missed, at(NOW, 0))).toBe(30 * SECOND)
  })

  test('waits at the start no longer than its own pause', () => {
    expect(timeToNextBackup(FRESH, { every: 2 * SECOND, clocks: { time: NOW, up: 0 } })).toBe(2 * SECOND)
  })

  test('is tried again after a minute, then after longer, and at least every quarter of an hour', () => {
    const after = (failures: number) =>
      timeToNextBackup({ ...FRESH, failures, failedUp: HOUR }, at(NOW, HOUR))
    expect([1, 2, 3, 4, 5, 50].map(after)).toEqual([1, 2, 4, 8, 15, 15].map((minutes) => minutes * MINUTE))
    const often = { every: 5 * SECOND, clocks: { time: NOW, up: HOUR } }
    expect(timeToNextBackup({ ...FRESH, failures: 9, failedUp: HOUR }, often)).toBe(5 * SECOND)
  })

  test('comes in time by the machine when the clock stands still or was set back', () => {
    const history = { ...FRESH, last: { at: NOW, up: HOUR } }
    expect(timeToNextBackup(history, at(NOW, HOUR + DAY))).toBe(0)
    expect(timeToNextBackup(history, at(NOW - 90 * DAY, HOUR + DAY))).toBe(0)
    const restarted = { ...FRESH, startedUp: HOUR, last: { at: NOW, up: null } }
    expect(timeToNextBackup(restarted, at(NOW, HOUR + DAY))).toBe(0)
  })

  test('does not wait for a last one that a wrong clock dated years ahead', () => {
    const history = { ...FRESH, last: { at: NOW + 900 * DAY, up: null } }
    expect(timeToNextBackup(history, at(NOW, MINUTE))).toBe(0)
  })

  test('is made at most twice a day, whatever the clock says and how often it is asked', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ jump: fc.integer({ min: -400, max: 400 }), hours: fc.nat(12) })),
        (steps) => {
          let [time, up, made] = [NOW, MINUTE, 0]
          let last: BackupHistory['last'] = null
          for (const { jump, hours } of steps) {
            time += jump * DAY
            up += hours * HOUR
            if (timeToNextBackup({ ...FRESH, last }, at(time, up)) > 0) continue
            made += 1
            last = { at: time, up }
          }
          expect(made).toBeLessThanOrEqual(1 + up / (12 * HOUR))
        },
      ),
    )
  })
})

describe('a backup is overdue', () => {
  test('once it is six hours late, not as soon as it is due', () => {
    const history = { ...FRESH, last: { at: NOW, up: null } }
    expect(isBackupOverdue(history, at(NOW + DAY + 5 * HOUR, DAY))).toBe(false)
    expect(isBackupOverdue(history, at(NOW + DAY + 7 * HOUR, DAY))).toBe(true)
  })

  test('never at the start, which makes one that was missed', () => {
    const history = { ...FRESH, last: { at: NOW - 9 * DAY, up: null } }
    expect(isBackupOverdue(history, at(NOW, MINUTE))).toBe(false)
    expect(isBackupOverdue(history, at(NOW, 7 * HOUR))).toBe(true)
  })

  test('also when there was never one', () => {
    expect([HOUR, 7 * HOUR].map((up) => isBackupOverdue(FRESH, at(NOW, up)))).toEqual([false, true])
  })
})

test('a name tells the time and the folder of the data, sorts by time, and can be read again', () => {
  const backup = { at: NOW, mark: 'k3f9xq' }
  const name = backupName({ ...backup, isSealed: false })
  const sealed = backupName({ ...backup, isSealed: true })
  expect([name, sealed]).toEqual([
    'oncebox-backup-2026-11-22T03-00-00Z-k3f9xq.tar',
    'oncebox-backup-2026-11-22T03-00-00Z-k3f9xq.tar.age',
  ])
  expect([name, sealed].map(timeOfBackup)).toEqual([NOW, NOW])
  for (const other of ['oncebox-backup-2026-11-22T03-00-00Z.tar', 'x', name.replace('11-22', '99-99')])
    expect(timeOfBackup(other)).toBeNull()
})

test('only what is beyond the newest ones may go, and never the last one', () => {
  expect(surplusBackups(['a', 'b', 'c', 'd'], 2)).toEqual(['a', 'b'])
  expect(surplusBackups(['a', 'b'], 7)).toEqual([])
  expect(surplusBackups(['a', 'b'], 0)).toEqual(['a'])
})
