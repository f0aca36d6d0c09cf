// The doctor: asks the server that runs for its checks, looks at the same parts of the folder itself, and adds what only somebody
// beside a server sees. Changes nothing.

import { existsSync, statSync } from 'node:fs'
import { arch, platform, release } from 'node:os'
import { dirname } from 'node:path'
import { createDiskChecks, judgeFolder } from '../../operating/checks.ts'
import { type Finding, fine, lookAtAll, problem, type Verdict, warning } from '../../operating/health.ts'
import { databaseSettingsOf } from '../../settings/database.ts'
import type { Config } from '../../settings/table.ts'
import { type DataFolder, dataFolder, FOLDER, requireOwnContents } from '../../store/folder/data-folder.ts'
import { createFreeSpace, findWriteProblem } from '../../store/folder/disk-space.ts'
import { isServed } from '../../store/folder/folder-lock.ts'
import { isReadableByOthers } from '../../store/folder/key-file.ts'
import { becomeOwner, isMine, requireOwn } from '../../store/folder/ownership.ts'
import { createDeepChecks } from './deep.ts'
import { createMachineChecks } from './machine.ts'
import { createOutsideChecks } from './outside.ts'
import type { DoctorOptions, Place } from './place.ts'
import { askServer, createReachChecks } from './reach.ts'
import { lookAtFolderRows, type Rows } from './rows.ts'

export type { Finding }

/** The findings part by part, in the order in which a person would check them. */
export async function examine(options: DoctorOptions): Promise<Finding[]> {
  const { config, version } = options
  const folder = dataFolder(config.dataDir)
  const found = await lookAtAll([{ part: 'folder', look: () => lookAtFolder(folder, config) }])
  const isFolder = statSync(folder.path, { throwIfNoEntry: false })?.isDirectory() === true
  const isUsable = isFolder && isMine(folder.path)
  const place = { ...options, folder, isUsable, isServed: isUsable && isServedOrUnknown(folder) }
  const rows = await lookAtRows(place)
  try {
    const own = await lookAtAll([
      ...rows.checks,
      ...createDiskChecks({ ...config, ...spaceOf(config) }),
      ...createOutsideChecks(place),
      ...createReachChecks(place),
      ...createMachineChecks(options),
    ])
    const deep = options.isDeep ? await lookDeeper(place, rows) : []
    const answer = await askServer(place)
    return [
      { part: 'version', ...fine(`Oncebox ${version} on ${platform()} ${release()}, ${arch()}.`) },
      ...merge([...found, ...own], answer.checks),
      ...deep,
      ...answer.findings,
    ]
  } finally {
    await rows.close()
  }
}

async function lookAtRows(place: Place): Promise<Rows> {
  const server = databaseSettingsOf(place.config)
  if (server === null) return lookAtFolderRows(place)
  // Loaded only here, because a folder needs no client of PostgreSQL.
  const { lookAtServerRows } = await import('./server-rows.ts')
  return lookAtServerRows(server, place)
}

/** What the running server complains of is told in its words, and once. */
function merge(own: readonly Finding[], served: readonly Finding[]): Finding[] {
  const told = served.filter(({ state }) => state !== 'ok')
  return [...own.filter(({ part }) => !told.some((one) => one.part === part)), ...told]
}

/** Of a timer. */
const LONGEST_MS = 2 ** 31 - 1

/** Takes as long as it takes to read everything. */
function lookDeeper(place: Place, rows: Rows): Promise<Finding[]> {
  return lookAtAll(createDeepChecks(place, rows), LONGEST_MS)
}

/** Root looks as the owner of the folder, because the server runs with the owner's rights. */
async function lookAtFolder(folder: DataFolder, { databaseUrl }: Config): Promise<Verdict> {
  const { path } = folder
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) {
    const missing = `There is no data folder at ${path}.`
    // A node may start with an empty one.
    if (databaseUrl !== null) return warning(missing, 'Start "oncebox serve" once, which makes it.')
    return problem(missing, 'Start "oncebox serve" once, or name the right folder with --data-dir.')
  }
  if (!found.isDirectory()) return problem(`${path} is no folder.`, 'Name a folder with --data-dir.')
  becomeOwner(path)
  requireOwn(path, FOLDER)
  requireOwnContents(folder)
  const written = judgeFolder(path, await findWriteProblem([path, folder.database].filter(existsSync)))
  if (written.state !== 'ok' || !isReadableByOthers(path)) return written
  return problem(`Other users of this machine can enter ${path}.`, `chmod 700 ${path}`)
}

function isServedOrUnknown(folder: DataFolder): boolean {
  try {
    return isServed(folder)
  } catch {
    return existsSync(folder.holder)
  }
}

/** Pushes leave nothing on the disk of this machine when their rows and files are elsewhere. */
function spaceOf({ dataDir, minFreeSpace, databaseUrl, filesUrl }: Config) {
  const path = nearest(dataDir)
  return {
    minFreeSpace: databaseUrl === null || filesUrl === null ? minFreeSpace : null,
    freeSpace: createFreeSpace({ path, floor: minFreeSpace, isFull: () => false }),
  }
}

/** The folder, or the nearest existing folder above it. */
function nearest(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearest(dirname(path))
}
