// Checks of the doctor for what the settings refer to outside the data folder: certificate, bucket, backups,
// log file, mail and webhooks.

import { X509Certificate } from 'node:crypto'
import { existsSync } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { dirname } from 'node:path'
import { findFolderFault, isUsed } from '../../backup/own-backup.ts'
import { graceOf } from '../../domain/backup-plan.ts'
import type { DeliveryError } from '../../domain/outbox.ts'
import { reasonOf } from '../../domain/system-errors.ts'
import { formatTime, SECOND } from '../../domain/time.ts'
import { openCertificateFiles } from '../../lan/certificate-files.ts'
import { judgeBackup, judgeCertificate } from '../../operating/checks.ts'
import { judgeMail, judgeWebhooks } from '../../operating/delivery-checks.ts'
import { fine, type Looked, problem, type Verdict, warning } from '../../operating/health.ts'
import { AUDIT_LOG, LOG, type LogKind, requireLogPlace } from '../../operating/log-file.ts'
import { bucketSettingsOf } from '../../settings/bucket.ts'
import { findTrialProblem } from '../../store/folder/disk-space.ts'
import { readBackupNote } from '../../store/folder/notes.ts'
import { probeBucket } from '../../store/s3/probe.ts'
import type { DoctorTarget, PlaceChecks } from './place.ts'

export const OUTSIDE_CHECKS: PlaceChecks = {
  files: lookAtBucket,
  certificate: lookAtCertificate,
  backup: lookAtBackups,
  log: ({ config }) => lookAtLogFile(config.logFile, LOG),
  audit: ({ config }) => lookAtLogFile(config.auditLog, AUDIT_LOG),
  mail: lookAtMail,
  // Runs in addition to the checks that a running server reports about its webhooks.
  'webhook hosts': lookAtWebhookHosts,
}

/**
 * Writes a small object, reads it, looks up a missing one, begins and aborts an upload, and deletes the
 * object.
 */
async function lookAtBucket({ config }: DoctorTarget): Promise<Looked> {
  const settings = bucketSettingsOf(config)
  if (settings === null) return null
  const { name, failure, isVersioned } = await probeBucket(settings)
  if (failure !== null) {
    const said = `The bucket ${name} cannot be used: ${failure.message}.`
    return problem(said, failure.kind === 'failing' || failure.kind === 'full' ? STORE : RIGHTS)
  }
  if (isVersioned) return warning(KEPT, UNVERSIONED)
  return fine(`The bucket ${name} takes, gives back and deletes objects.`)
}

const STORE =
  'See that the store runs, has room, and is the one that --files-url names (endpoint=), and try again.'
const RIGHTS =
  'Correct --files-url and the access key. It needs s3:PutObject, s3:GetObject, s3:DeleteObject, s3:AbortMultipartUpload, and for ' +
  'the bucket s3:ListBucket. A small object named probe-… may have stayed behind.'
const KEPT = 'The bucket keeps versions, so the sealed files of pushes that ended stay in it.'
const UNVERSIONED =
  'Take a bucket without versioning and object lock; where that cannot be, give it a rule that removes noncurrent versions after a day.'

/** Checks a certificate from files only: the server renews its own, and reports failures. */
async function lookAtCertificate({ config, now }: DoctorTarget): Promise<Looked> {
  const { tls, tlsCert, tlsKey, baseUrl } = config
  if (tls !== 'files') return null
  const files = { certPath: tlsCert ?? '', keyPath: tlsKey ?? '', now }
  const readText = (path: string) => readFile(path, 'utf8')
  const { current, facts, authority } = await openCertificateFiles({ ...files, readFile: readText })
  const leaf = new X509Certificate(current().certificate)
  const isFor = (name: string) => (isIP(name) === 0 ? leaf.checkHost(name) : leaf.checkIP(name)) !== undefined
  const name = baseUrl === null ? null : new URL(baseUrl).hostname.replace(/^\[|\]$/g, '')
  if (name === null || isFor(name)) return judgeCertificate({ facts, authority }, now())
  const { names, addresses } = facts()
  const known = [...names, ...addresses].join(', ')
  const said = `The certificate is not for ${name}, the name of --base-url (it is for ${known}).`
  return problem(said, 'Get one for that name, or correct --base-url.')
}

async function lookAtBackups({ config, now, isServed }: DoctorTarget): Promise<Verdict> {
  const { dataDir, backupDir: folder, backupEvery: every, backupRecipients, databaseUrl } = config
  if (databaseUrl !== null) return fine(OF_POSTGRES)
  if (folder === null) return fine('This server makes none by itself (--backup-dir).')
  const note = await readBackupNote(dataDir)
  const fault = await findFolderFault({ folder, dataDir, note })
  if (fault?.isMissing && !isUsed({ folder, note }))
    return warning(`There is no ${folder} yet.`, 'Start the server, which makes it, or mount its disk first.')
  if (fault !== null) return problem(fault.said, fault.remedy)
  const refused = await findTrialProblem(folder)
  if (refused !== null) return problem(`${folder} cannot take backups: ${refused}.`)
  const last = note.last?.folder === folder ? note.last : null
  if (last === null)
    return warning(`There is no backup in ${folder} yet.`, 'Start the server; it makes one soon after.')
  // A running server reports an overdue backup itself, with its cause.
  const isOverdue = !isServed && now() - last.at > every + graceOf(every)
  const judged = judgeBackup({ folder, last, making: null, failure: null, isOverdue })
  if (judged.state !== 'ok') return judged
  const { length } = backupRecipients
  const keys = length === 0 ? 'not encrypted' : `encrypted for ${length} age keys`
  const disk = last.isSameDisk ? ', and on the disk of the data' : ''
  return fine(`${folder} holds ${last.kept}, the last one of ${formatTime(last.at)}, ${keys}${disk}.`)
}

const OF_POSTGRES =
  'PostgreSQL has backups of its own (pg_dump, point-in-time recovery): see docs/beyond-one-machine.md.'

/** Connects, verifies and logs in; sends nothing. */
async function lookAtMail({ config }: DoctorTarget): Promise<Looked> {
  if (config.smtpUrl === null) return null
  // Loaded only here, because most servers send no mail.
  const { createOwnMailer } = await import('../notices.ts')
  const mailer = createOwnMailer(config)
  if (mailer === null) return null
  const error = await mailer.test()
  return judgeMail(mailer.name, error && { error })
}

/** Connects to each host, and verifies its certificate where it has TLS; sends nothing. */
async function lookAtWebhookHosts({ config: { webhookHosts: listed } }: DoctorTarget): Promise<Looked> {
  if (listed.length === 0) return null
  const { connectOutside } = await import('../../notices/guarded-request.ts')
  async function tryHost(host: string): Promise<DeliveryError | null> {
    const { hostname, port } = new URL(`http://${host}`)
    // Use TLS only on port 443, because the list of hosts does not say which ports use it.
    const place = (isTls: boolean) => ({ hostname, port: Number(port) || (isTls ? 443 : 80), isTls })
    const hasPort = /:\d+$/.test(host)
    const options = { listed, within: HOST_MS }
    const error = await connectOutside(place(!hasPort || port === '443'), options)
    const isSilent = error === 'unreachable' || error === 'timed_out'
    return hasPort || !isSilent ? error : connectOutside(place(false), options)
  }
  const tried = await Promise.all(listed.map(async (host) => ({ host, error: await tryHost(host) })))
  const failing = tried.flatMap(({ host, error }) => (error === null ? [] : [{ host, error }]))
  return failing.length > 0 ? judgeWebhooks(failing) : fine(`Webhooks reach ${listed.join(', ')}.`)
}

/** Leaves time for two tries of a host before a check times out. */
const HOST_MS = 8 * SECOND

async function lookAtLogFile(path: string | null, kind: LogKind): Promise<Looked> {
  const { what, flag } = kind
  if (path === null) return null
  requireLogPlace(path, kind)
  const refused = existsSync(path) ? await findSyncProblem(path) : await findTrialProblem(dirname(path))
  if (refused === null) return fine(`The ${what === 'log file' ? 'log' : what} goes to ${path}.`)
  const remedy = `Make its folder and let the user of the server write there, or name another ${flag}.`
  return problem(`The ${what} ${path} cannot be written: ${refused}.`, remedy)
}

/**
 * Returns the reason why a file cannot be appended to, or null. Writes nothing; syncs the file instead, which
 * fails on a disk that became read-only after an error.
 */
async function findSyncProblem(path: string): Promise<string | null> {
  try {
    await using file = await open(path, 'a')
    // Devices cannot be synced.
    if ((await file.stat()).isFile()) await file.sync()
    return null
  } catch (cause) {
    return reasonOf(cause)
  }
}
