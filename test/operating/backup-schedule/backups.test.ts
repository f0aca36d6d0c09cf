// The schedule of a server's own backups: when one is made, what is told when it fails, and which files it ever touches.

import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test'
import { appendFileSync, existsSync, mkdirSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createBackupGauges } from '../../../src/operating/backup-schedule/gauges.ts'
import { createBackupCheck } from '../../../src/operating/backup-schedule/status.ts'
import { createScene, type Scene } from '../../support/backup-folder.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

let scene: Scene

beforeEach(() => {
  jest.useFakeTimers()
})
afterEach(async () => {
  await scene.close()
  jest.useRealTimers()
})

const full = () => Object.assign(new Error('no room'), { code: 'ENOSPC' })

async function lookAtHealth() {
  return createBackupCheck(scene.status).look()
}

describe('the schedule', () => {
  test('looks at the folder at once, makes the first backup after half a minute, and the next after a day', async () => {
    scene = await createScene()
    await scene.settle()
    expect([scene.made(), scene.status().last]).toEqual([0, null])
    expect(existsSync(scene.folder)).toBe(true)
    await scene.pass(31 * SECOND)
    expect(scene.made()).toBe(1)
    await scene.pass(23 * HOUR, HOUR)
    expect(scene.made()).toBe(1)
    await scene.pass(HOUR)
    expect(scene.made()).toBe(2)
  })

  test('goes on over restarts: a server that is started every hour makes one a day', async () => {
    scene = await createScene()
    for (let hour = 0; hour < 72; hour += 1) {
      await scene.restart()
      await scene.settle()
      await scene.pass(MINUTE)
      await scene.pass(59 * MINUTE)
    }
    expect(scene.made()).toBe(3)
  })

  test('makes one soon after the start that was missed', async () => {
    scene = await createScene()
    await scene.pass(MINUTE)
    await scene.pass(MINUTE)
    await scene.stop()
    scene.clock.advance(9 * DAY)
    await scene.restart()
    await scene.settle()
    expect(scene.made()).toBe(1)
    await scene.pass(31 * SECOND)
    expect(scene.made()).toBe(2)
  })

  test('makes one when it is asked for', async () => {
    scene = await createScene()
    await scene.settle()
    scene.makeNow()
    expect(scene.status().making).not.toBeNull()
    await scene.settle()
    expect([scene.made(), scene.status().making]).toEqual([1, null])
  })

  test('makes the folder for one that is asked for at once, and tells when it cannot', async () => {
    scene = await createScene()
    rmSync(join(scene.folder, '..'), { recursive: true })
    scene.makeNow()
    await scene.settle()
    expect([scene.status().failure?.code, scene.status().making]).toEqual(['missing', null])
    expect(scene.failures).toHaveLength(1)
    mkdirSync(scene.dataDir, { recursive: true })
    scene.makeNow()
    await scene.settle()
    await scene.settle()
    expect([scene.status().failure, scene.status().count]).toEqual([null, 1])
  })

  test('makes another when the last one is not in the folder any more', async () => {
    scene = await createScene()
    await scene.settle()
    await scene.pass(MINUTE)
    for (const name of scene.list()) unlinkSync(join(scene.folder, name))
    await scene.pass(HOUR)
    await scene.pass(MINUTE)
    expect([scene.made(), scene.status().count]).toEqual([2, 1])
  })

  test('gives two backups two names while the clock stands still', async () => {
    scene = await createScene({ keep: 9 })
    await scene.settle()
    for (let n = 0; n < 3; n += 1) {
      scene.makeNow()
      await scene.settle()
    }
    expect(new Set(scene.list()).size).toBe(3)
  })
})

describe('keeping', () => {
  async function makeMany(times: number) {
    for (let n = 0; n < times; n += 1) {
      scene.clock.advance(DAY)
      scene.makeNow()
      await scene.settle()
    }
  }

  test('removes the oldest of its own once a new one is complete', async () => {
    scene = await createScene({ keep: 3 })
    await scene.settle()
    await makeMany(3)
    const [first = ''] = scene.list()
    await makeMany(1)
    expect([scene.list().length, scene.list().includes(first), scene.status().count]).toEqual([3, false, 3])
  })

  test('removes none when the new one fails', async () => {
    scene = await createScene({ keep: 2 })
    await scene.settle()
    await makeMany(2)
    const before = scene.list()
    scene.faults.make = full()
    await makeMany(3)
    expect(scene.list()).toEqual(before)
  })

  test('touches no file of another server, of a person, or one that was altered', async () => {
    scene = await createScene({ keep: 1 })
    await scene.settle()
    await makeMany(1)
    const [altered = ''] = scene.list()
    appendFileSync(join(scene.folder, altered), 'more')
    const foreign = [
      'oncebox-backup-2020-01-01T00-00-00Z-abcdef.tar',
      'oncebox-backup-2020-01-01T00-00-00Z.tar',
      altered.replace('2026', '2019'),
      'oncebox-backup-2020-01-01T00-00-00Z-abcdef.tar.box-1.part',
      'photo.jpg',
    ]
    for (const name of foreign) writeFileSync(join(scene.folder, name), 'backup 1\n')
    await makeMany(3)
    expect(scene.list()).toEqual([...foreign, altered, scene.status().last?.name ?? ''].sort())
  })

  test('counts no altered one as good, so that enough good ones stay', async () => {
    scene = await createScene({ keep: 2 })
    await scene.settle()
    await makeMany(2)
    appendFileSync(join(scene.folder, scene.list()[1] ?? ''), 'more')
    await makeMany(1)
    expect([scene.list().length, scene.status().count]).toEqual([3, 2])
  })

  test('removes none while the database is damaged: the earlier ones may hold what the new one has lost', async () => {
    scene = await createScene({ keep: 2 })
    await scene.settle()
    scene.faults.damage = ['push 17 is not as it was written']
    await makeMany(4)
    expect(scene.status().count).toBe(4)
    expect(scene.log.join()).toContain('the earlier backups stay')
    scene.faults.damage = []
    await makeMany(1)
    expect(scene.status().count).toBe(2)
  })

  test('removes what killed processes have left of backups that it began, and adopts a complete one', async () => {
    scene = await createScene({ keep: 9 })
    await scene.settle()
    scene.faults.result = { state: 'stopped' }
    scene.makeNow()
    await scene.settle()
    scene.faults.result = null
    const [complete = ''] = scene.list()
    expect(scene.status().count).toBe(0)
    writeFileSync(join(scene.folder, `${complete}.box-1234.part`), 'half')
    await scene.restart()
    await scene.settle()
    expect(scene.list()).toEqual([complete])
    expect(scene.status().last).toMatchObject({ name: complete, at: expect.any(Number), durationMs: null })
  })

  test('begins anew with a record that is damaged, and then takes nothing for its own', async () => {
    scene = await createScene({ keep: 1 })
    await scene.settle()
    await makeMany(1)
    const before = scene.list()
    await scene.stop()
    writeFileSync(join(scene.dataDir, 'backups.json'), '{"format":1,"mark":"../x"')
    await scene.restart()
    await scene.settle()
    await makeMany(2)
    expect(scene.list()).toEqual([...before, scene.status().last?.name ?? ''].sort())
  })
})

describe('a folder that cannot be used', () => {
  test('is told once, again when the reason changes, and works again by itself', async () => {
    scene = await createScene()
    await scene.settle()
    await scene.pass(MINUTE)
    renameSync(scene.folder, `${scene.folder}-gone`)
    await scene.pass(DAY)
    await scene.pass(20 * MINUTE, MINUTE)
    expect(scene.status().failure?.code).toBe('missing')
    expect(scene.failures.filter((line) => line.startsWith('new'))).toHaveLength(1)
    expect(scene.failures.length).toBeGreaterThan(3)
    expect(scene.failures[0]).toContain('there is no such file or folder')
    writeFileSync(scene.folder, 'a file')
    await scene.pass(20 * MINUTE, MINUTE)
    expect(scene.failures.filter((line) => line.startsWith('new'))).toHaveLength(2)
    unlinkSync(scene.folder)
    renameSync(`${scene.folder}-gone`, scene.folder)
    await scene.pass(16 * MINUTE, MINUTE)
    expect([scene.status().failure, scene.status().count]).toEqual([null, 2])
    expect(scene.log).toContain('backups work again')
  })

  test('is not made again where one was used: it is a disk that is not mounted', async () => {
    scene = await createScene()
    await scene.settle()
    await scene.pass(MINUTE)
    rmSync(scene.folder, { recursive: true })
    await scene.pass(HOUR)
    expect([scene.status().failure?.code, existsSync(scene.folder)]).toEqual(['missing', false])
    mkdirSync(scene.folder)
    const did = scene.did()
    await scene.pass(2 * MINUTE, MINUTE)
    expect([scene.status().failure, scene.did() > did]).toEqual([null, true])
  })

  test('is gone also when it goes while the first backup is made in it', async () => {
    scene = await createScene()
    await scene.settle()
    scene.faults.onMade = () => renameSync(scene.folder, `${scene.folder}-gone`)
    await scene.pass(MINUTE)
    await scene.pass(2 * MINUTE)
    expect([scene.status().failure?.code, existsSync(scene.folder)]).toEqual(['missing', false])
    scene.faults.onMade = () => undefined
    renameSync(`${scene.folder}-gone`, scene.folder)
    await scene.pass(4 * MINUTE)
    expect([scene.status().failure, scene.status().count]).toEqual([null, 2])
  })

  test('does not block new pushes, and is told by /readyz with its remedy', async () => {
    scene = await createScene()
    await scene.settle()
    expect(await lookAtHealth()).toEqual({ todo: null })
    scene.faults.make = full()
    await scene.pass(MINUTE)
    const { todo, isBlocking = false } = await lookAtHealth()
    expect(isBlocking).toBe(false)
    for (const words of ['the disk is full', 'lower --backup-keep', 'There is no backup yet'])
      expect(todo).toContain(words)
  })
})

test('a backup that is not done in time is told as overdue', async () => {
  scene = await createScene()
  await scene.settle()
  await scene.pass(MINUTE)
  await scene.stop()
  scene.clock.advance(DAY + 7 * HOUR)
  expect((await lookAtHealth()).todo).toContain('is overdue')
})

test('the metrics tell the last good one, and of none before there is one', async () => {
  scene = await createScene()
  const read = async () =>
    Promise.all(
      createBackupGauges(scene.status).map(async ({ name, read }) => [
        name.replace('oncebox_backup', ''),
        await read(),
      ]),
    )
  await scene.settle()
  expect(await read()).toEqual([
    ['_last_success_timestamp_seconds', null],
    ['_last_duration_seconds', null],
    ['_last_size_bytes', null],
    ['s_kept', 0],
    ['_failures_total', 0],
  ])
  scene.faults.make = full()
  await scene.pass(MINUTE)
  scene.faults.make = null
  await scene.pass(2 * MINUTE)
  expect(await read()).toEqual([
    ['_last_success_timestamp_seconds', (scene.status().last?.at ?? 0) / 1000],
    ['_last_duration_seconds', 0],
    ['_last_size_bytes', 9],
    ['s_kept', 1],
    ['_failures_total', 1],
  ])
})

test('the end of the server begins nothing, and a task that it ends is no failure', async () => {
  scene = await createScene()
  await scene.settle()
  scene.makeNow()
  await scene.stop()
  await scene.settle()
  expect([scene.made(), scene.failures]).toEqual([0, []])
})
