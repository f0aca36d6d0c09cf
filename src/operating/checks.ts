// The health checks of a server and its data: ONE list of parts with the words for each. /readyz, /admin, the
// metrics and "oncebox doctor" run them.

import { type Doubt, explainBehind, explainDoubt } from '../domain/clock.ts'
import type { FailingHost } from '../domain/outbox.ts'
import { DAY, formatTime, MINUTE, type Now, SECOND } from '../domain/time.ts'
import type { Authority } from '../lan/certificate.ts'
import type { DamageReports } from '../store/contract.ts'
import type { DatabaseReport } from '../store/database-contract.ts'
import type { BucketReport, FreeSpace } from '../store/files-contract.ts'
import { judgeMail, judgeWebhooks, type MailFailure } from './delivery-checks.ts'
import { type Checks, fine, problem, type Verdict, warning } from './health.ts'

type ServedOptions = {
  store: {
    now: Now
    isAlive: () => Promise<boolean>
    findWriteProblem: () => Promise<string | null>
    findKeyProblem: () => Promise<string | null>
    freeSpace: FreeSpace
    bucket: BucketReport | null
    damage: DamageReports
    clock: { doubt(): Doubt | null }
    /** The database server; null when rows are in the data folder. */
    database: DatabaseReport | null
  }
  /** Server and database, without the login; empty when rows are in the data folder. */
  databaseName: string
  dataDir: string
  minFreeSpace: number | null
  systemNow: Now
  /** The server's certificate; null when TLS is off. */
  certificate: LastingCertificate | null
  /** Reads how the backups went; null without --backup-dir. */
  readBackups: (() => BackupState) | null
  /** Finds why the log cannot be written; null without --log-file. */
  findLogProblem: (() => Promise<string | null>) | null
  /** Finds why the audit log cannot be written; null without --audit-log. */
  findAuditProblem: (() => Promise<string | null>) | null
  /** The mail server and its latest failure; null if no mail is sent. */
  mail: { name: string; findFailure: () => MailFailure | null } | null
  /**
   * Resolves to a sentence about mails that are refused now because too many were sent; null when none are.
   */
  findMailShortage: () => Promise<string | null>
  /** Lists hosts whose webhooks fail; null without --webhook-hosts. */
  listFailingWebhooks: (() => Promise<readonly FailingHost[]>) | null
}

export function createServerChecks(options: ServedOptions): Checks {
  const { store, databaseName, dataDir, systemNow, certificate, mail } = options
  const { readBackups, findLogProblem, findAuditProblem, listFailingWebhooks } = options
  const { database, bucket, damage, freeSpace, clock } = store
  const lookAtFolder = async () => {
    const why = await store.findWriteProblem()
    // Report a full disk only once, in the part "disk".
    return judgeFolder(dataDir, freeSpace.isFull() ? null : why)
  }
  const lookAtDatabase = async () => ((await store.isAlive()) ? lookAtFolder() : problem(DEAD, DEAD_REMEDY))
  const isOnServer = database !== null
  return {
    database: () => (database === null ? lookAtDatabase() : judgeDatabase(database, databaseName)),
    folder: () => (isOnServer ? lookAtFolder() : null),
    ...createDiskChecks({ ...options, freeSpace }),
    files: () => bucket && judgeBucket(bucket),
    key: async () => judgeKey(await store.findKeyProblem()),
    damage: () => judgeDamage(damage.count(), store),
    clock: () => judgeClock({ doubt: clock.doubt(), here: systemNow(), was: store.now(), isOnServer }),
    certificate: () => certificate && judgeCertificate(certificate, systemNow()),
    backup: () => readBackups && judgeBackup(readBackups()),
    log: async () => findLogProblem && judgeLog('log file', await findLogProblem()),
    audit: async () => findAuditProblem && judgeLog('audit log', await findAuditProblem()),
    mail: async () => mail && judgeMail(mail.name, mail.findFailure(), await options.findMailShortage()),
    webhooks: async () => listFailingWebhooks && judgeWebhooks(await listFailingWebhooks()),
  }
}

export function judgeFolder(dataDir: string, why: string | null): Verdict {
  return why === null
    ? fine(`${dataDir} can be written to.`)
    : problem(`Nothing can be written to ${dataDir}: ${why}.`)
}

const DEAD = 'The database does not answer.'
const DEAD_REMEDY = 'See the log, check the disk, then start the server again.'

/** Nodes write a heartbeat every five seconds. */
const SILENT_MS = 20 * SECOND

async function judgeDatabase(report: DatabaseReport, name: string): Promise<Verdict> {
  const refusal = report.findRefusal()
  if (refusal !== null) return problem(refusal)
  if ((await report.look()) === null) {
    const why =
      report.explainLoss() ?? `${name} does not answer: see whether it runs, and can be reached from here.`
    return problem(why, 'Requests that need it get 503 until then.')
  }
  const silence = report.sinceHeartbeat()
  // Report a full disk only as a warning, so that a load balancer keeps the server: requests that store
  // nothing still work.
  if (silence < SILENT_MS) return report.isFull() ? warning(FULL, FULL_REMEDY) : fine(`${name} answers.`)
  const seconds = Math.round(silence / SECOND)
  return problem(`${name} answers, but has written nothing for ${seconds} s.`, SILENT_REMEDY)
}

const FULL = 'The disk of the database server is full, so new pushes are refused (507).'
const FULL_REMEDY = 'Make room on it, or give it a larger one; remove nothing from pg_wal by hand.'
const SILENT_REMEDY =
  'See its log, whether its disk is full, and whether a standby of synchronous_standby_names is missing (pg_stat_replication).'

const MIB = 1024 * 1024
/** The room for one push of the default maximum size: its bytes in the database and again in the WAL. */
const LEAST_FREE = 2 * MIB
/** A push needs one inode per file, and the database a few. */
const MIN_INODES = 100

type DiskOptions = {
  dataDir: string
  /** How many bytes of the disk must stay free; null if pushes store nothing on this machine's disk. */
  minFreeSpace: number | null
  freeSpace: Pick<FreeSpace, 'measure' | 'isFull'>
}

export function createDiskChecks({ dataDir, minFreeSpace: floor, freeSpace }: DiskOptions): Checks {
  async function lookAtSpace(): Promise<Verdict> {
    if (freeSpace.isFull())
      return problem(`The disk of ${dataDir} is full: new pushes are refused.`, MAKE_ROOM)
    const { free, total } = await freeSpace.measure()
    const said = `${mib(free)} of ${mib(total)} are free on the disk of ${dataDir}`
    if (floor === null) return fine(`${said}.`)
    const needed = Math.max(floor, LEAST_FREE)
    const needs = `${said}, and new pushes need ${mib(needed)}${floor === needed ? ' (--min-free-space)' : ''}`
    return free >= needed ? fine(`${needs}.`) : problem(`${needs}: they are refused.`, MAKE_ROOM)
  }

  async function lookAtInodes(): Promise<Verdict> {
    const { inodes } = await freeSpace.measure()
    if (inodes === null) return fine('The disk does not limit the number of files.')
    const said = `The disk of ${dataDir} has room for ${inodes.free} more files`
    if (inodes.free >= MIN_INODES) return fine(`${said}.`)
    const tell = inodes.free === 0 ? problem : warning
    return tell(`${said} only.`, 'Remove small files that are not needed.')
  }

  return { disk: lookAtSpace, inodes: lookAtInodes }
}

const MAKE_ROOM = 'Remove other files, or give it a larger disk.'

/** Judges the bucket. Never a problem, because pushes without files still work. */
async function judgeBucket({ name, findProblem, isFull }: BucketReport): Promise<Verdict> {
  const why = await findProblem()
  if (why !== null) return warning(`The bucket ${name} cannot be used: ${why}.`, REFUSED_FILES)
  if (isFull()) return warning(`The bucket ${name} is full.`, 'Make room in it, or raise its limit.')
  return fine(`The bucket ${name} works.`)
}

const REFUSED_FILES = 'Pushes with files are refused until it works.'

/** Warn: the server runs without its key file, but the next start would fail. */
function judgeKey(why: string | null): Verdict {
  return why === null ? fine('The key file holds the keys in use.') : warning(why)
}

function judgeDamage(
  places: number,
  { database, bucket }: Pick<ServedOptions['store'], 'database' | 'bucket'>,
): Verdict {
  if (places === 0) return fine('None was found since the start.')
  const [count, are] = places === 1 ? ['1 place', 'is'] : [`${places} places`, 'are']
  const medium = database === null ? 'on the disk' : 'in PostgreSQL'
  const where = bucket === null ? medium : `${medium} or in the bucket`
  const said = `${count} ${where} ${are} damaged`
  return warning(`${said}; the log names them, and docs/damage.md says what to do for each.`)
}

/** `here`: the time of this machine's clock. `was`: the time of the app. */
type ClockState = { doubt: Doubt | null; here: number; was: number; isOnServer: boolean }

export function judgeClock({ doubt, here, was, isOnServer }: ClockState): Verdict {
  if (doubt !== null) return warning(explainDoubt(doubt, isOnServer ? 'the database server' : undefined))
  const said = `The clock of this machine says ${formatTime(here)}`
  if (!isOnServer) {
    const behind = explainBehind({ said: here, was })
    return behind === null ? fine(`${said}.`) : warning(behind)
  }
  if (Math.abs(was - here) <= MINUTE) return fine(`${said}, as that of the database server does.`)
  return warning(
    `${said}, and the one of the database server ${formatTime(was)}.`,
    'Pushes end by the latter, but the log and certificates go by the former: set the clocks right.',
  )
}

/** How long before a certificate expires the operator is warned. */
const WARN_LEAF = 7 * DAY
const WARN_AUTHORITY = 90 * DAY

type LastingCertificate = {
  facts: () => { validUntil: number }
  authority: Pick<Authority, 'validUntil'> | null
}

export function judgeCertificate({ facts, authority }: LastingCertificate, now: number): Verdict {
  const day = (at: number) => new Date(at).toISOString().slice(0, 10)
  const { validUntil: end } = facts()
  if (now > end) return problem(`The certificate lapsed on ${day(end)}.`, 'Renew it.')
  if (now > end - WARN_LEAF) return warning(`The certificate lapses on ${day(end)}.`, 'Renew it.')
  if (authority === null || now < authority.validUntil - WARN_AUTHORITY)
    return fine(`The certificate is valid until ${day(end)}.`)
  const remedy = 'A start in its last 30 days makes another one, to be trusted anew.'
  return warning(`The authority ends on ${day(authority.validUntil)}.`, remedy)
}

type BackupState = {
  folder: string
  /** When the last complete backup, the running one, and the last failed one began. */
  last: { at: number } | null
  making: number | null
  failure: { at: number; said: string } | null
  isOverdue: boolean
}

/** Judges the backups. Never a problem, because a server works without them. */
export function judgeBackup({ folder, last, making, failure, isOverdue }: BackupState): Verdict {
  const good =
    last === null ? 'There is no backup yet.' : `The last good backup is of ${formatTime(last.at)}.`
  if (failure !== null) {
    const said = `No backup was made in ${folder} at ${formatTime(failure.at)}: ${failure.said}`
    return warning(`${said} It is tried again by itself. ${good}`)
  }
  if (!isOverdue) return fine(good)
  const why =
    making === null
      ? 'See the log.'
      : `One that began at ${formatTime(making)} is not done yet: check the disk.`
  return warning(`The backup in ${folder} is overdue. ${good}`, why)
}

/** Judges a log. Never a problem, because lines go to standard error instead. */
function judgeLog(what: 'log file' | 'audit log', why: string | null): Verdict {
  return why === null ? fine(`The ${what} takes lines.`) : warning(why)
}

function mib(bytes: number): string {
  return `${Math.floor(bytes / MIB)} MiB`
}
