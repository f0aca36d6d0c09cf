// Scheduled backups of a server: the timer, the child process, and the outcome of the last backup.

import { delayAtStart, graceOf, longestBackup, type MadeBackup, retryDelay } from '../domain/backup-plan.ts'
import { conflict } from '../domain/errors.ts'
import type { Job, JobReport } from '../domain/job.ts'
import { formatLength, type Now, SECOND, type Uptime } from '../domain/time.ts'
import type { Log } from '../operating/log.ts'
import type { Gauged } from '../operating/metrics.ts'
import type { BackupChild } from './backup-child.ts'

type BackupPlan = {
  folder: string
  /** Milliseconds between the starts of two backups. */
  every: number
  /** How many backups to keep. */
  keep: number
  /** Public keys to encrypt for. If empty, backups are not encrypted. */
  recipients: readonly string[]
  /** Whether the backups contain the instance key unencrypted. */
  showsKey: boolean
}

export type BackupStatus = ReturnType<Backups['status']>

type BackupsOptions = {
  plan: BackupPlan
  /** Resolves to the last complete backup in this folder, as noted in the data folder. Never rejects. */
  readLast: () => Promise<MadeBackup | null>
  startChild: () => BackupChild
  /**
   * Called for the first failure after a start or a complete backup, but not for the failures that follow it.
   */
  onFailing: () => void
  now: Now
  uptime: Uptime
  log: Pick<Log, 'info' | 'warn'>
}

export type Backups = Awaited<ReturnType<typeof createBackups>>

const TICK_MS = SECOND
/** Time to clean up after SIGTERM. */
const GRACE_MS = 2 * SECOND
/** Time to exit after SIGKILL. */
const KILL_MS = SECOND

type RunningBackup = { child: BackupChild; at: number; up: number }

export async function createBackups(options: BackupsOptions) {
  const { plan, readLast, startChild, now, uptime, log } = options
  const { folder, every } = plan
  const limit = formatLength(longestBackup(every))
  let last = await readLast()
  // Uptimes at which the next complete backup is due, and at which the next attempt starts.
  let expectedUp = uptime() + delayAtStart({ last: last?.at ?? null, now: now(), every })
  let dueUp = expectedUp
  let running: RunningBackup | null = null
  /** The last failure; null after a complete backup. `said` is an English sentence. */
  let failure: { at: number; said: string } | null = null
  // Failures since the server started, and since the last complete backup.
  let [failures, inARow] = [0, 0]
  let report: JobReport | null = null
  let timer: Timer | undefined
  let stopping: Promise<void> | null = null

  const isLate = ({ up }: RunningBackup) => uptime() - up >= longestBackup(every)

  /** Never starts a second child while one is running, even if that one cannot be killed. */
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
      failed(`It did not finish within ${limit}. Check the disk or the network of ${folder}.`)
    else if (end.state === 'stopped') postpone()
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

  function postpone(): void {
    inARow += 1
    dueUp = uptime() + retryDelay(inARow, every)
  }

  function failed(said: string): void {
    const isTold = failure !== null && reasonIn(failure.said) === reasonIn(said)
    if (failure === null) options.onFailing()
    failure = { at: now(), said }
    failures += 1
    postpone()
    const message = `could not make a backup in ${folder}: ${said} It will be retried automatically.`
    report?.failed(conflict(message), { isTold })
  }

  /** Resolves within seconds, even if the disk hangs. */
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

  /** `making`: when the running backup started, or null. `nextAt` is null while one is running. */
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
      timer = setInterval(tick, TICK_MS)
    },
    stop: () => {
      stopping ??= stop()
      return stopping
    },
  }
  return {
    job,
    status,
    /** Starts a backup at once unless one is running. Logs the account that asked for it. */
    makeNow: (by: { accountId: number }): void => {
      log.info(by, 'an administrator requested a backup')
      void make()
    },
  }
}

/** Removes numbers, so that two messages that differ only in times or sizes count as the same reason. */
function reasonIn(said: string): string {
  return said.replace(/\d+(\.\d+)?/g, '')
}

/** Returns the gauges of the last backup. They have no value until there is one. */
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
