// The doctor: checks everything about an installation that a support person would ask for, and changes nothing.

import { existsSync } from 'node:fs'
import { arch, platform, release } from 'node:os'
import { dirname } from 'node:path'
import { reasonOf } from '../../domain/system-errors.ts'
import type { Now } from '../../domain/time.ts'
import type { Network } from '../../http/door/listener.ts'
import { type DatabaseSettings, databaseSettingsOf } from '../../settings/database.ts'
import type { Config } from '../../settings/table.ts'
import { type DataFolder, dataFolder, refuseBereft } from '../../store/folder/data-folder.ts'
import { isServed } from '../../store/folder/folder-lock.ts'
import { becomeOwner } from '../../store/folder/ownership.ts'
import { examineBackups } from './backups.ts'
import { examineBucket } from './bucket.ts'
import { examineCertificate } from './certificate.ts'
import { examineClock, examineDatabase, examineLeftLog, type Read } from './database.ts'
import { type Finding, fine, problem, warning } from './finding.ts'
import { examineFolder, examineKey, examineLogFile, warnOfNoData } from './folder.ts'
import { examineDisk, examineLimits, examineUnit } from './machine.ts'
import { examineNodeKeys } from './node-keys.ts'
import { examinePostgres } from './postgres.ts'
import { examineReach } from './reach.ts'

export type { Finding }

export type DoctorOptions = {
  config: Config
  version: string
  now: Now
  network: Network
  /** The paths at which a systemd unit may be. */
  unitPlaces?: readonly string[]
}

const UNIT_PLACES = [
  '/etc/systemd/system',
  '/usr/local/lib/systemd/system',
  '/usr/lib/systemd/system',
  '/lib/systemd/system',
].map((folder) => `${folder}/oncebox.service`)

/** The findings part by part, in the order in which a person would check them. */
export async function examine(options: DoctorOptions): Promise<Finding[]> {
  const { config, version, unitPlaces = UNIT_PLACES } = options
  const { dataDir } = config
  const folder = dataFolder(dataDir)
  return [
    fine('version', `Oncebox ${version} on ${platform()} ${release()}, ${arch()}.`),
    ...(await examineAsOwner(folder, options)),
    ...examineDisk(nearest(dataDir), config.minFreeSpace),
    ...(await examineBucket(config)),
    ...examineLogFile(config.logFile),
    ...examineLimits(),
    ...examineUnit({ places: unitPlaces, dataDir }),
  ]
}

/** Root checks as the owner of the folder, because the server runs with the owner's rights. */
async function examineAsOwner(folder: DataFolder, options: DoctorOptions): Promise<Finding[]> {
  try {
    if (existsSync(folder.path)) becomeOwner(folder.path)
  } catch (cause) {
    return [problem('folder', reasonOf(cause), 'Run this as the user of the service.')]
  }
  const { config, now } = options
  const server = databaseSettingsOf(config)
  const { findings, holdsData } =
    server !== null && !existsSync(folder.path) ? noFolderYet(folder) : examineFolder(folder)
  const isFolder = findings[0]?.state === 'ok'
  const served = (holdsData || (server !== null && isFolder)) && isServedOrUnknown(folder)
  const looked = { options, isServed: served, isFolder, holdsData }
  const rows = server === null ? examineRows(folder, looked) : await examineServerRows(server, looked)
  return [
    ...findings,
    ...rows,
    ...(await examineReach({ ...options, isServed: served })),
    ...(await examineCertificate(config, { folder, now: now() })),
    ...(server === null ? await examineBackups(config, { now: now(), isServed: served }) : [BACKUPS]),
  ]
}

/** A node may start with an empty one. */
function noFolderYet({ path }: DataFolder): ReturnType<typeof examineFolder> {
  const remedy = 'Start "oncebox serve" once, which makes it.'
  return {
    findings: [warning('folder', `There is no data folder at ${path} yet.`, remedy)],
    holdsData: false,
  }
}

const BACKUPS = fine(
  'backups',
  'PostgreSQL has backups of its own (pg_dump, point-in-time recovery): see docs/beyond-one-machine.md.',
)

type Looked = { options: DoctorOptions; isServed: boolean; isFolder: boolean; holdsData: boolean }

function examineRows(folder: DataFolder, looked: Looked): Finding[] {
  const { isServed } = looked
  const read = looked.holdsData ? examineDatabase(folder, { isServed }) : null
  return examineData(folder, { ...looked, read })
}

async function examineServerRows(
  server: DatabaseSettings,
  { options, holdsData }: Looked,
): Promise<Finding[]> {
  const { config, now } = options
  const { dataDir } = config
  const { keys, findings } = await examinePostgres(server, { dataDir, now })
  return [
    ...(holdsData ? [bothDatabases(dataDir)] : []),
    ...findings,
    ...examineNodeKeys(server.keyFile, keys),
  ]
}

/** A node is refused there, because nobody would see the other database. */
function bothDatabases(dataDir: string): Finding {
  return problem(
    'folder',
    `${dataDir} holds a database of its own, which is not served beside --database-url.`,
    'Name another folder with --data-dir.',
  )
}

function isServedOrUnknown(folder: DataFolder): boolean {
  try {
    return isServed(folder)
  } catch {
    return existsSync(folder.holder)
  }
}

type Data = Looked & { read: Read | null }

function examineData(folder: DataFolder, { read, options, isServed: served, isFolder }: Data): Finding[] {
  const { config, now } = options
  const clock = { now: now(), maxGap: config.maxClockGap, isServed: served }
  if (read === null) return [...(isFolder ? [examineBereft(folder)] : []), examineClock(null, clock)]
  return [
    ...read.findings,
    ...examineLeftLog(folder, { isServed: served }),
    ...examineKey(config.keyFile ?? folder.key, read.verifiers),
    examineClock(read.clock, clock),
  ]
}

/** For a folder without data, which is new or has lost its database. */
function examineBereft(folder: DataFolder): Finding {
  try {
    refuseBereft(folder)
    return warnOfNoData(folder.path)
  } catch (cause) {
    return problem('database', reasonOf(cause), 'Restore the folder from a backup.')
  }
}

/** The folder, or the nearest existing folder above it. */
function nearest(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearest(dirname(path))
}
