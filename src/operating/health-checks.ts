// The checks of /readyz, one for each part, with a remedy for each problem.

import { type Doubt, explainBehind, explainDoubt } from '../domain/clock.ts'
import type { Now } from '../domain/time.ts'
import { formatTime, MINUTE } from '../domain/time.ts'
import type { DatabaseReport } from '../store/database-face.ts'
import type { DamageReports } from '../store/face.ts'
import type { BucketReport, FreeSpace } from '../store/files-face.ts'
import { createDatabaseCheck } from './database-checks.ts'
import { FINE, type Finding, type HealthCheck } from './health.ts'

const MIB = 1024 * 1024
/** What a push of the usual largest size needs: twice its bytes, in the database and in its log. */
export const LEAST_FREE = 2 * MIB
/** A push needs one for each file, and the database a few. */
const MIN_INODES = 100

export type ServedHealthOptions = {
  store: {
    now: Now
    isAlive: () => Promise<boolean>
    /** Null when the folder can be written to; otherwise the reason. */
    findWriteProblem: () => Promise<string | null>
    /** Null when the key file holds the keys in use; otherwise the problem and its remedy. */
    findKeyProblem: () => Promise<string | null>
    freeSpace: FreeSpace
    bucket: BucketReport | null
    damage: DamageReports
    clock: { doubt(): Doubt | null }
    /** Null when rows are in the data folder. */
    database: DatabaseReport | null
  }
  /** Server and database, without the login; empty when rows are in the data folder. */
  databaseName: string
  dataDir: string
  /** Null when pushes leave nothing on the disk of this machine. */
  minFreeSpace: number | null
  systemNow: Now
}

export function createHealthChecks(options: ServedHealthOptions): HealthCheck[] {
  const { store } = options
  return [
    ...(store.database === null
      ? [{ name: 'database', look: () => lookAtDatabase(options) }]
      : [
          createDatabaseCheck(store.database, options.databaseName),
          { name: 'folder', look: () => lookAtFolder(options) },
        ]),
    { name: 'disk', look: () => lookAtDisk(options) },
    { name: 'inodes', look: () => lookAtInodes(options) },
    ...(store.bucket === null ? [] : [checkOfBucket(store.bucket)]),
    { name: 'key', look: () => lookAtKey(store) },
    { name: 'damage', look: () => ({ todo: explainDamage(store.damage.count(), store) }) },
    { name: 'clock', look: () => ({ todo: explainClock(options) }) },
  ]
}

async function lookAtDatabase(options: ServedHealthOptions): Promise<Finding> {
  if (await options.store.isAlive()) return lookAtFolder(options)
  return {
    todo: 'The database does not answer: see the log, check the disk, then start the server again.',
    isBlocking: true,
  }
}

async function lookAtFolder({ store, dataDir }: ServedHealthOptions): Promise<Finding> {
  const problem = await store.findWriteProblem()
  if (problem === null) return FINE
  return { todo: `Nothing can be written to ${dataDir}: ${problem}.`, isBlocking: true }
}

async function lookAtDisk({ store, dataDir, minFreeSpace }: ServedHealthOptions) {
  if (minFreeSpace === null) return FINE
  const { free } = await store.freeSpace.measure()
  if (free >= Math.max(minFreeSpace, LEAST_FREE) && !store.freeSpace.isFull()) return FINE
  const said = `${mib(free)} are free on the disk of ${dataDir}`
  const why = free < minFreeSpace ? `, and new pushes need ${mib(minFreeSpace)} (--min-free-space)` : ''
  return {
    todo: `${said}${why}. New pushes are refused: remove other files, or give it a larger disk.`,
    isBlocking: true,
  }
}

async function lookAtInodes({ store, dataDir }: ServedHealthOptions) {
  const { inodes } = await store.freeSpace.measure()
  if (inodes === null || inodes.free >= MIN_INODES) return FINE
  return {
    todo: `The disk of ${dataDir} has room for ${inodes.free} more files only: remove small files that nobody needs.`,
    isBlocking: inodes.free === 0,
  }
}

/** Never blocking: pushes without files go on. */
function checkOfBucket({ name, findProblem, isFull }: BucketReport): HealthCheck {
  const look = async () => {
    const problem = await findProblem()
    if (problem !== null)
      return {
        todo: `The bucket ${name} cannot be used: ${problem}. Pushes with files are refused until it works.`,
      }
    if (isFull()) return { todo: `The bucket ${name} is full: make room in it, or raise its limit.` }
    return FINE
  }
  return { name: 'files', look }
}

/** Links to this process may fail while it lacks a key of the others. */
async function lookAtKey({ findKeyProblem, database }: ServedHealthOptions['store']): Promise<Finding> {
  const lack = database?.findKeyLack() ?? null
  return lack === null ? { todo: await findKeyProblem() } : { todo: lack.why, isBlocking: lack.isBlocking }
}

function explainDamage(
  places: number,
  { database, bucket }: Pick<ServedHealthOptions['store'], 'database' | 'bucket'>,
): string | null {
  if (places === 0) return null
  const [count, are] = places === 1 ? ['1 place', 'is'] : [`${places} places`, 'are']
  const where = [
    database === null ? 'on the disk' : 'in PostgreSQL',
    bucket === null ? null : 'in the bucket',
  ]
  const medium = where.filter((one) => one !== null).join(' or ')
  return `${count} ${medium} ${are} damaged; the log names them, and docs/damage.md says what to do for each.`
}

function explainClock({ store, systemNow }: ServedHealthOptions): string | null {
  const doubt = store.clock.doubt()
  const [said, was] = [systemNow(), store.now()]
  if (store.database !== null) {
    if (doubt !== null) return explainDoubt(doubt, 'the database server')
    return Math.abs(was - said) <= MINUTE ? null : explainDrift(said, was)
  }
  return doubt === null ? explainBehind({ said, was }) : explainDoubt(doubt)
}

function explainDrift(here: number, there: number): string {
  return (
    `The clock of this machine says ${formatTime(here)}, and the one of the database server ${formatTime(there)}. ` +
    'Pushes end by the latter, but the log and certificates go by the former: set the clocks right.'
  )
}

function mib(bytes: number): string {
  return `${Math.floor(bytes / MIB)} MiB`
}
