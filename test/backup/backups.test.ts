// The timer of scheduled backups: when one is made, how a failure is reported, and how its process is
// stopped.

import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test'
import type { BackupEnd } from '../../src/backup/backup-child.ts'
import { createBackupGauges, createBackups } from '../../src/backup/backups.ts'
import type { MadeBackup } from '../../src/domain/backup-plan.ts'
import { judgeBackup } from '../../src/operating/checks.ts'
import { wordOf } from '../../src/operating/health.ts'
import { createTestClock } from '../support/instance.ts'
import { passUntil } from '../support/timers.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const FULL: BackupEnd = { state: 'ended', said: 'The disk of /mnt/b/17.tar has no room: 3.5 MiB are free.' }

beforeEach(() => {
  jest.useFakeTimers()
})
afterEach(() => {
  jest.useRealTimers()
})

type Behaviour = 'works' | 'hangs' | 'is damaged' | BackupEnd

async function createScene({ every = DAY } = {}) {
  const clock = createTestClock()
  const log: string[] = []
  const failures: string[] = []
  const failing: number[] = []
  let children = 0
  const signals: string[] = []
  let behaviour: Behaviour = 'works'
  let noted: MadeBackup | null = null
  let endHanging: (end: BackupEnd) => void = () => undefined
  const tell = (...said: unknown[]) => void log.push(String(said.at(-1)))

  function run(): Promise<BackupEnd> {
    if (behaviour === 'hangs') {
      const { promise, resolve } = Promise.withResolvers<BackupEnd>()
      endHanging = resolve
      return promise
    }
    if (typeof behaviour === 'object') return Promise.resolve(behaviour)
    const n = children
    noted = {
      name: `${n}.tar`,
      at: clock.now(),
      bytes: 9,
      durationMs: 2 * SECOND,
      kept: n,
      isSameDisk: false,
    }
    return Promise.resolve({ state: 'ended', said: behaviour === 'works' ? null : 'it is damaged' })
  }

  async function open() {
    const backups = await createBackups({
      plan: { folder: '/mnt/b', every, keep: 3, recipients: [], showsKey: false },
      ...{ now: clock.now, uptime: clock.uptime, readLast: async () => noted },
      log: { info: tell, warn: tell },
      onFailing: () => void failing.push(clock.now()),
      startChild: () => {
        children += 1
        return { ended: run(), kill: (signal) => void signals.push(signal) }
      },
    })
    const failed = (cause: unknown, { isTold } = { isTold: false }) => {
      failures.push(`${isTold ? 'again' : 'new'}: ${cause instanceof Error ? cause.message : cause}`)
    }
    backups.job.start({ did: () => undefined, failed })
    return backups
  }

  let backups = await open()

  /** Runs the tick that is due, and what it starts. */
  async function settle(): Promise<void> {
    jest.advanceTimersByTime(SECOND)
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
  }

  return {
    ...{ clock, log, failures, failing, signals, settle },
    made: () => children,
    status: () => backups.status(),
    makeNow: () => backups.makeNow({ accountId: 1 }),
    stop: () => backups.job.stop(),
    behave: (next: Behaviour) => {
      behaviour = next
    },
    endHanging: (end: BackupEnd) => endHanging(end),
    pass: async (ms: number, step = ms) => {
      for (let passed = 0; passed < ms; passed += step) {
        clock.advance(step)
        await settle()
      }
    },
    restart: async () => {
      await backups.job.stop()
      backups = await open()
    },
  }
}

describe('the timer', () => {
  test('makes the first backup after half a minute, and the next a day after', async () => {
    const scene = await createScene()
    await scene.pass(29 * SECOND, SECOND)
    expect([scene.made(), scene.status().last]).toEqual([0, null])
    await scene.pass(SECOND)
    expect(scene.made()).toBe(1)
    await scene.pass(23 * HOUR, HOUR)
    expect(scene.made()).toBe(1)
    await scene.pass(HOUR)
    expect(scene.made()).toBe(2)
  })

  test('continues across restarts: a server that is started every hour makes one backup a day', async () => {
    const scene = await createScene()
    for (let hour = 0; hour < 72; hour += 1) {
      await scene.restart()
      await scene.pass(MINUTE)
      await scene.pass(59 * MINUTE)
    }
    expect(scene.made()).toBe(3)
  })

  test('keeps its rhythm when the clock is set', async () => {
    const scene = await createScene()
    await scene.pass(MINUTE)
    for (let hour = 0; hour < 48; hour += 1) {
      scene.clock.set(scene.clock.now() + (hour % 3 === 0 ? -400 : 300) * DAY)
      await scene.pass(HOUR)
    }
    expect(scene.made()).toBe(3)
  })

  test('makes one on request, and no second one at the same time', async () => {
    const scene = await createScene()
    scene.behave('hangs')
    scene.makeNow()
    scene.makeNow()
    await scene.pass(MINUTE)
    expect([scene.made(), scene.status().nextAt]).toEqual([1, null])
    expect(scene.status().making).not.toBeNull()
  })
})

describe('a failure', () => {
  test('is logged once although its figures change, again if its reason changes, and ends with a complete backup', async () => {
    const scene = await createScene()
    for (const free of [3.5, 4, 17]) {
      scene.behave({ state: 'ended', said: `no room: ${free} MiB are free.` })
      await scene.pass(20 * MINUTE, MINUTE)
    }
    scene.behave({ state: 'ended', said: 'permission denied.' })
    await scene.pass(20 * MINUTE)
    expect(scene.failures.filter((line) => line.startsWith('new'))).toEqual([
      'new: could not make a backup in /mnt/b: no room: 3.5 MiB are free. It will be retried automatically.',
      'new: could not make a backup in /mnt/b: permission denied. It will be retried automatically.',
    ])
    expect(scene.failures.length).toBeGreaterThan(5)
    expect(scene.status().failures).toBe(scene.failures.length)
    scene.behave('works')
    await scene.pass(20 * MINUTE)
    expect(scene.status().failure).toBeNull()
    expect(scene.failing).toHaveLength(1)
    expect(scene.log).toContain('backups work again')
  })

  test('does not block new pushes, and /readyz reports it with its remedy', async () => {
    const scene = await createScene()
    const look = () => judgeBackup(scene.status())
    expect(look().state).toBe('ok')
    scene.behave(FULL)
    await scene.pass(MINUTE)
    expect(look().state).toBe('warning')
    for (const words of ['No backup was made in /mnt/b', '3.5 MiB are free.', 'There is no backup yet'])
      expect(wordOf(look())).toContain(words)
  })

  test('of the database is reported, leaves a backup, and causes no immediate retry', async () => {
    const scene = await createScene()
    scene.behave('is damaged')
    await scene.pass(2 * HOUR, HOUR)
    expect([scene.made(), scene.status().failure, scene.status().last?.name]).toEqual([1, null, '1.tar'])
    expect(scene.log).toContain('it is damaged')
  })

  test('is not reported when the system ends the process together with the server', async () => {
    const scene = await createScene()
    scene.behave({ state: 'stopped' })
    await scene.pass(MINUTE)
    expect([scene.made(), scene.failures, scene.status().failure]).toEqual([1, [], null])
  })
})

describe('a process that hangs', () => {
  test('is reported as overdue, killed after its interval, and has no successor while it cannot be killed', async () => {
    const scene = await createScene()
    await scene.pass(MINUTE)
    scene.behave('hangs')
    await scene.pass(DAY)
    expect(scene.made()).toBe(2)
    await scene.pass(7 * HOUR)
    const told = wordOf(judgeBackup(scene.status()))
    expect(told).toMatch(/is overdue\. .* One that began at .* is not done yet: check the disk\./)
    expect(scene.signals).toEqual([])
    await scene.pass(2 * DAY, HOUR)
    expect([scene.made(), new Set(scene.signals)]).toEqual([2, new Set(['SIGKILL'])])
    scene.endHanging({ state: 'ended', said: 'It was ended by SIGKILL.' })
    await scene.settle()
    expect(scene.status().failure?.said).toContain('not finish within 24 h 0 min. Check the disk')
    scene.behave('works')
    await scene.pass(2 * MINUTE, SECOND)
    expect([scene.made(), scene.status().failure, scene.failures.length]).toEqual([3, null, 1])
  })

  test('delays the stop of the server by three seconds, and starts nothing afterwards', async () => {
    const scene = await createScene()
    scene.behave('hangs')
    scene.makeNow()
    const stopped = scene.stop()
    const from = performance.now()
    await passUntil(Promise.resolve(stopped))
    expect(performance.now() - from).toBeWithin(2_900, 4_000)
    expect(scene.signals).toEqual(['SIGTERM', 'SIGKILL'])
    scene.endHanging({ state: 'ended', said: 'It was ended by SIGKILL.' })
    scene.makeNow()
    await scene.pass(DAY)
    expect([scene.made(), scene.failures]).toEqual([1, []])
  })
})

test('the metrics have the time of the last complete backup, and nothing before the first', async () => {
  const scene = await createScene()
  const read = async () =>
    Object.fromEntries(
      await Promise.all(
        createBackupGauges(scene.status).map(async ({ name, read }) => [
          name.replace('oncebox_backup', ''),
          await read(),
        ]),
      ),
    )
  const none = { _last_success_timestamp_seconds: null, _last_duration_seconds: null, _last_size_bytes: null }
  expect(await read()).toEqual({ ...none, s_kept: 0, _failures_total: 0 })
  scene.behave(FULL)
  await scene.pass(MINUTE)
  scene.behave('works')
  await scene.pass(2 * MINUTE)
  expect(await read()).toEqual({
    _last_success_timestamp_seconds: (scene.status().last?.at ?? 0) / 1000,
    ...{ _last_duration_seconds: 2, _last_size_bytes: 9, s_kept: 2, _failures_total: 1 },
  })
})
