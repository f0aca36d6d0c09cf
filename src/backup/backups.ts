// The backups that a server makes by itself: a timer, the process that makes one, and how the last one went.

import { delayAtStart, graceOf, longestBackup, type MadeBackup, retryDelay } from '../domain/backup-plan.ts'
import { conflict } from '../domain/errors.ts'
import type { Job, JobReport } from '../domain/job.ts'
import { formatLength, type Now, SECOND, type Uptime } from '../domain/time.ts'
import type { Log } from '../operating/log.ts'
import type { Gauged } from '../operating/metrics.ts'
import type { BackupChild } from './backup-child.ts'

export type BackupPlan = {
  folder: string
  /** Milliseconds from the beginning of one to that of the next. */
  every: number
  /** How many stay. */
  keep: number
  /** Public keys; without any, everybody who has a backup can read it. */
  recipients: readonly string[]
  /** Whether whoever reads them has the instance key: it is in them, and they are not encrypted. */
  showsKey: boolean
}

export type BackupStatus = ReturnType<Backups['status']>

export type BackupsOptions = {
  plan: BackupPlan
  /** What the data folder notes of the last good one in this folder. Throws nothing. */
  readLast: () => Promise<MadeBackup | null>
  startChild: () => BackupChild
  /** Called with the first failure after a start or a good backup, and not while it goes on. */
  onFailing: () => void
  now: Now
  uptime: Uptime
  log: Pick<Log, 'info' | 'warn'>
}

export type Backups = Awaited<ReturnType<typeof createBackups>>

const LOOK_MS = SECOND
/** For a process to clean up after itself, and to be gone once it was killed. */
const GRACE_MS = 2 * SECOND
const KILL_MS = SECOND

type Running = { child: BackupChild; at: number; up: number }

export async function createBackups(options: BackupsOptions) {
  const { plan, readLast, startChild, now, uptime, log } = options
  const { folder, every } = plan
  const limit = formatLength(longestBackup(every))
  let last = await readLast()
  /** When the next good one is due, and when the next is tried. */
  let expectedUp = uptime() + delayAtStart({ last: last?.at ?? null, now: now(), every })
  let dueUp = expectedUp
  let running: Running | null = null
  /** The last one, unless it was made good; `said` is a sentence in English. */
  let failure: { at: number; said: string } | null = null
  /** Since the server started, and since the last good one. */
  let [failures, inARow] = [0, 0]
  let report: JobReport | null = null
  let timer: Timer | undefined
  let stopping: Promise<void> | null = null

  const isLate = ({ up }: Running) => uptime() - up >= longestBackup(every)

  /** Starts no second process beside one that cannot be ended. */
  function tick(): void {
    if (running === null && uptime() >= dueUp) void make()
    else if (running !== null && isLate(running)) running.child.kill('SIGKILL')
  }

  async function make(): Promise<void> {
    if (running !== null || stopping !== null) return
    const round = { child: startChild(), at: now(), up: uptime() }
    running = round
    const end = await round.child.ended
    const found = await readLast()
    running = null
    if (stopping !== null) return
    if (found !== null && found.name !== last?.name) made(found, round.up)
    else if (isLate(round))
      failed(`It was not done within ${limit}. Check the disk or the network of ${folder}.`)
    else if (end.state === 'stopped') setBack()
    else failed(end.said ?? 'It left no backup.')
    if (end.state === 'ended' && end.said !== null && failure === null) log.warn({ folder }, end.said)
  }

  function made(found: MadeBackup, up: number): void {
    if (failure !== null) log.info({ folder }, 'backups work again')
    if (found.isSameDisk && last?.isSameDisk !== true)
      log.warn({ folder }, 'backups are on the disk of the data, and would be lost with it')
    const { name: file, bytes, durationMs } = found
    log.info({ folder, file, bytes, durationMs }, 'made a backup')
    last = found
    failure = null
    inARow = 0
    expectedUp = up + every
    dueUp = expectedUp
    report?.did()
  }

  function setBack(): void {
    inARow += 1
    dueUp = uptime() + retryDelay(inARow, every)
  }

  function failed(said: string): void {
    const isTold = failure !== null && reasonIn(failure.said) === reasonIn(said)
    if (failure === null) options.onFailing()
    failure = { at: now(), said }
    failures += 1
    setBack()
    const told = `no backup was made in ${folder}: ${said} It is tried again by itself.`
    report?.failed(conflict(told), { isTold })
  }

  /** Within seconds, whatever the disk does. */
  async function stop(): Promise<void> {
    clearInterval(timer)
    if (running === null) return
    const { child } = running
    const isGone = (ms: number) =>
      Promise.race([child.ended.then(() => true), Bun.sleep(ms).then(() => false)])
    child.kill('SIGTERM')
    if (await isGone(GRACE_MS)) return
    child.kill('SIGKILL')
    await isGone(KILL_MS)
  }

  /** `making` is when the one that is being made began; `nextAt` is null meanwhile. */
  function status() {
    return {
      ...plan,
      ...{ last, failure, failures },
      making: running?.at ?? null,
      nextAt: running === null ? now() + Math.max(0, dueUp - uptime()) : null,
      isOverdue: uptime() - expectedUp > graceOf(every),
    }
  }

  const job: Job = {
    name: 'backup',
    start: (given) => {
      report = given
      timer = setInterval(tick, LOOK_MS)
    },
    stop: () => {
      stopping ??= stop()
      return stopping
    },
  }
  return {
    job,
    status,
    /** Begins one at once, unless one is being made. The log tells who asked for it. */
    makeNow: (by: { accountId: number }): void => {
      log.info(by, 'an administrator asked for a backup')
      void make()
    },
  }
}

/** Times, sizes and names with them differ each time. */
function reasonIn(said: string): string {
  return said.replace(/\d+(\.\d+)?/g, '')
}

/** Nothing is told of a last one while there is none. */
export function createBackupGauges(status: () => BackupStatus): Gauged[] {
  const ofLast = (name: string, help: string, read: (last: MadeBackup) => number): Gauged => ({
    ...{ name: `oncebox_backup_last_${name}`, help },
    read: () => {
      const { last } = status()
      return last && read(last)
    },
  })
  return [
    ofLast('success_timestamp_seconds', 'When the last good backup began.', ({ at }) => at / SECOND),
    ofLast(
      'duration_seconds',
      'How long the last good backup took.',
      ({ durationMs }) => durationMs / SECOND,
    ),
    ofLast('size_bytes', 'Size of the last good backup.', ({ bytes }) => bytes),
    {
      ...{ name: 'oncebox_backups_kept', read: () => status().last?.kept ?? 0 },
      help: 'Backups of this server in its folder after the last good one.',
    },
    {
      ...{ name: 'oncebox_backup_failures_total', read: () => status().failures },
      help: 'Backups that could not be made.',
    },
  ]
}
