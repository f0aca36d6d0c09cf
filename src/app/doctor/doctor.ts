// The doctor: asks a running server for its checks, runs the same checks on the folder, and adds those that
// need a view from outside. Read-only.

import { existsSync, statSync } from 'node:fs'
import { arch, platform, release } from 'node:os'
import { dirname } from 'node:path'
import { findKeysProblem } from '../../install/release-keys.ts'
import { createDiskChecks, judgeFolder } from '../../operating/checks.ts'
import { type Finding, fine, lookAtAll, problem, type Verdict, warning } from '../../operating/health.ts'
import { databaseSettingsOf } from '../../settings/database.ts'
import type { Config } from '../../settings/table.ts'
import {
  type DataFolder,
  dataFolder,
  FOLDER,
  holdsData,
  requireOwnContents,
} from '../../store/folder/data-folder.ts'
import { createFreeSpace, findTrialProblem, findWriteProblem } from '../../store/folder/disk-space.ts'
import { isServed } from '../../store/folder/folder-lock.ts'
import { isReadableByOthers } from '../../store/folder/key-file.ts'
import { becomeOwner, isMine, requireOwn } from '../../store/folder/ownership.ts'
import { createDeepChecks } from './deep.ts'
import { OUTSIDE_CHECKS } from './outside.ts'
import { createPasskeyCheck } from './passkeys.ts'
import type { DoctorOptions, DoctorTarget } from './place.ts'
import { askServer, REACH_CHECKS } from './reach.ts'
import { lookAtFolderRows, type Rows } from './rows.ts'

export type { Finding }

/** Returns the findings in the order in which a person would check them. */
export async function examine(options: DoctorOptions): Promise<Finding[]> {
  const { config, version } = options
  const folder = dataFolder(config.dataDir)
  const found = await lookAtAll({
    version: () =>
      fine(`Oncebox ${version} on ${platform()} ${release()}, ${arch()}. ${findKeysProblem() ?? ''}`.trim()),
    folder: () => lookAtFolder(folder, config),
  })
  const isUsable = isFolder(folder.path) && isMine(folder.path)
  const place = { ...options, folder, isUsable, isServed: isUsable && isServedOrUnknown(folder) }
  await using rows = await lookAtRows(place)
  const checks = { ...OUTSIDE_CHECKS, ...REACH_CHECKS }
  const onPlace = Object.entries(checks).map(([part, look]) => [part, () => look(place)] as const)
  const diskChecks = createDiskChecks({ ...config, ...spaceOf(config) })
  const own = await lookAtAll({
    ...rows.checks,
    ...createPasskeyCheck(options, rows),
    ...diskChecks,
    ...Object.fromEntries(onPlace),
  })
  // Run this last: reading every file may take hours.
  const deep = options.isDeep ? await lookAtAll(createDeepChecks(place, rows), LONGEST_MS) : []
  // A problem that the running server reports takes precedence over the doctor's own finding.
  const told = await askServer(place)
  const isUntold = ({ part }: Finding) => !told.some((one) => one.part === part)
  return [...[...found, ...own].filter(isUntold), ...deep, ...told]
}

/** The longest delay of a timer. */
const LONGEST_MS = 2 ** 31 - 1

async function lookAtRows(place: DoctorTarget): Promise<Rows> {
  const server = databaseSettingsOf(place.config)
  if (server === null) return lookAtFolderRows(place)
  // Loaded only here, because a data folder needs no PostgreSQL client.
  const { lookAtServerRows } = await import('./server-rows.ts')
  return lookAtServerRows(server, place)
}

/** Checks the folder. Root becomes its owner, because the server runs with the owner's rights. */
async function lookAtFolder(folder: DataFolder, { databaseUrl }: Config): Promise<Verdict> {
  const { path } = folder
  const isNode = databaseUrl !== null
  if (!existsSync(path)) {
    const remedy = 'Start "oncebox serve" once, or name the right folder with --data-dir.'
    // A node may start with an empty folder.
    return (isNode ? warning : problem)(`There is no data folder at ${path}.`, remedy)
  }
  if (!isFolder(path)) return problem(`${path} is not a folder.`, 'Name a folder with --data-dir.')
  becomeOwner(path)
  requireOwn(path, FOLDER)
  requireOwnContents(folder)
  const refused = await findWriteProblem([path, folder.database].filter(existsSync))
  const written = judgeFolder(path, refused ?? (await findTrialProblem(path)))
  if (written.state !== 'ok') return written
  if (isReadableByOthers(path))
    return problem(`Other users of this machine can enter ${path}.`, `chmod 700 ${path}`)
  if (!isNode || !holdsData(folder)) return written
  // A node refuses to start with such a folder, because its database would be ignored.
  const said = `${path} holds a database of its own, which is not served beside --database-url.`
  return problem(said, 'Name another folder with --data-dir.')
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function isServedOrUnknown(folder: DataFolder): boolean {
  try {
    return isServed(folder)
  } catch {
    return existsSync(folder.holder)
  }
}

/**
 * Returns the disk to check. Pushes use no disk of this machine if both their rows and their files are
 * elsewhere.
 */
function spaceOf({ dataDir, minFreeSpace, databaseUrl, filesUrl }: Config) {
  const path = nearest(dataDir)
  return {
    minFreeSpace: databaseUrl === null || filesUrl === null ? minFreeSpace : null,
    freeSpace: createFreeSpace({ path, floor: minFreeSpace, isFull: () => false }),
  }
}

/** Returns the folder, or the nearest existing folder above it. */
function nearest(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearest(dirname(path))
}
