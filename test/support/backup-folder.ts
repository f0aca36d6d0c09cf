// A server's own backups without a server: a folder on the disk, a clock that the test moves, and backups that are one line.

import { expect, jest } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createBackups } from '../../src/operating/backup-schedule/backups.ts'
import type { StartTask, TaskResult } from '../../src/operating/backup-schedule/process.ts'
import { parseAnswer } from '../../src/operating/backup-schedule/task-lines.ts'
import { type MakeBackup, workInBackupFolder } from '../../src/operating/backup-schedule/work.ts'
import { readBackupRecord, writeBackupRecord } from '../../src/store/folder/backup-record.ts'
import { createTestClock } from './instance.ts'

const SECOND = 1_000

const STOPPED: TaskResult = { state: 'stopped' }

/** Works in this process, in place of one of its own. */
export function createTaskHere(makeBackup: MakeBackup): StartTask {
  return (task) => {
    let said = STOPPED
    const hear = (line: string) => {
      const answer = parseAnswer(line)
      if (answer !== null && answer.state !== 'working') said = answer
    }
    const result = workInBackupFolder(JSON.stringify(task), { makeBackup, tell: hear }).then(() => said)
    return { result, stop: async () => undefined, isGone: () => true }
  }
}

/** Call jest.useFakeTimers() before, and jest.useRealTimers() after the test. */
export async function createScene(plan: { every?: number; keep?: number } = {}) {
  const root = mkdtempSync(join(tmpdir(), 'oncebox-backups-'))
  const [dataDir, folder] = [join(root, 'data'), join(root, 'backups')]
  mkdirSync(dataDir)
  const clock = createTestClock()
  const log: string[] = []
  const failures: string[] = []
  const faults = {
    make: null as Error | null,
    result: null as TaskResult | null,
    damage: [] as string[],
    onMade: (): void => undefined,
  }
  const running = new Set<Promise<unknown>>()
  let made = 0
  let did = 0
  const tell = (...said: unknown[]) => void log.push(String(said.at(-1)))

  const makeBackup: MakeBackup = async ({ destination }) => {
    made += 1
    if (faults.make !== null) throw faults.make
    writeFileSync(destination, `backup ${made}\n`, { flag: 'wx' })
    faults.onMade()
    return { damage: faults.damage }
  }

  function tracked<T>(work: Promise<T>): Promise<T> {
    const ended = work.finally(() => running.delete(ended))
    running.add(ended)
    return ended
  }

  const startTask: StartTask = (task) => {
    const { result, ...running } = createTaskHere(makeBackup)(task)
    return {
      ...running,
      result: tracked(faults.result === null ? result : result.then(() => faults.result ?? STOPPED)),
    }
  }

  async function open() {
    const backups = createBackups({
      plan: { folder, every: 24 * 3600 * SECOND, keep: 3, recipients: [], ...plan },
      ...{ dataDir, startTask, showsKey: false },
      order: { keyFile: null, tlsAuthorityKey: null, minFreeSpace: 0 },
      record: await readBackupRecord(dataDir),
      writeRecord: (record) => tracked(writeBackupRecord(dataDir, record)),
      readClocks: () => ({ time: clock.now(), up: clock.uptime() }),
      log: { info: tell, warn: tell },
    })
    const failed = (cause: unknown, { isTold } = { isTold: false }) => {
      failures.push(`${isTold ? 'again' : 'new'}: ${cause instanceof Error ? cause.message : cause}`)
    }
    backups.job.start({ did: () => void ++did, finished: () => undefined, failed })
    return backups
  }

  let backups = await open()

  /** Lets time pass, a tick of the schedule at a time or in one step. */
  async function pass(ms: number, step = ms): Promise<void> {
    for (let passed = 0; passed < ms; passed += step) {
      clock.advance(step)
      await settle()
    }
  }

  /** Runs the tick that is due, and what it starts. */
  async function settle(): Promise<void> {
    jest.advanceTimersByTime(SECOND)
    for (let turn = 0; turn < 20; turn += 1) {
      await Promise.allSettled(running)
      // Comes back from the thread pool, after what continues now.
      await stat('.')
    }
  }

  return {
    ...{ dataDir, folder, clock, log, failures, faults, pass, settle },
    made: () => made,
    /** How often the job told that something was done. */
    did: () => did,
    status: () => backups.status(),
    makeNow: () => backups.makeNow(),
    list: () => readdirSync(folder).sort(),
    stop: () => backups.job.stop(),
    restart: async () => {
      await backups.job.stop()
      backups = await open()
    },
    close: async () => {
      await backups.job.stop()
      rmSync(root, { recursive: true, force: true })
      expect(running.size).toBe(0)
    },
  }
}

export type Scene = Awaited<ReturnType<typeof createScene>>
