// The record in the data folder of the backups that its server made by itself: what is not in it is never taken for ours.

import { open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { randomBase32 } from '../../crypto/random.ts'
import type { MadeBackup } from '../../domain/backup-plan.ts'
import { codeOf } from '../../domain/system-errors.ts'

/** `folder` is where it was put. */
export type RecordedBackup = MadeBackup & { folder: string }

export type BackupRecord = {
  /** Of this data folder, by chance. Part of the names. */
  mark: string
  /** In the order in which they were made. */
  made: readonly RecordedBackup[]
  /** Those that were begun and not found complete yet. */
  begun: readonly { folder: string; name: string }[]
}

/** A folder that is kept for years has fewer. Disks that take turns in one place are all remembered. */
const MOST_MADE = 4_000
/** While the folder cannot be used, one is begun every quarter of an hour. */
const MOST_BEGUN = 200
const FORMAT = 1

function pathIn(dataDir: string): string {
  return join(dataDir, 'backups.json')
}

/**
 * A record that is missing, damaged or unreadable is a new one: then nothing that was made before is ours. `onLost` is told
 * unless there was none.
 */
export async function readBackupRecord(
  dataDir: string,
  onLost: (cause: unknown) => void = () => undefined,
): Promise<BackupRecord> {
  try {
    return parseRecord(JSON.parse(await readFile(pathIn(dataDir), 'utf8')))
  } catch (cause) {
    if (codeOf(cause) !== 'ENOENT') onLost(cause)
    return newRecord()
  }
}

function newRecord(): BackupRecord {
  return { mark: randomBase32(6), made: [], begun: [] }
}

/** Whole or not at all, and durable. */
export async function writeBackupRecord(dataDir: string, { mark, made, begun }: BackupRecord): Promise<void> {
  const path = pathIn(dataDir)
  const unfinished = `${path}.oncebox-new`
  const text = JSON.stringify({
    format: FORMAT,
    mark,
    made: made.slice(-MOST_MADE),
    begun: begun.slice(-MOST_BEGUN),
  })
  await rm(unfinished, { force: true })
  const file = await open(unfinished, 'wx', 0o600)
  try {
    await file.writeFile(`${text}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(unfinished, path)
  await syncFolder(dirname(path))
}

/** Windows cannot open folders and needs no such thing. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  await folder.sync().finally(() => folder.close())
}

/** Throws for what is no record. */
function parseRecord(read: unknown): BackupRecord {
  const { format, mark, made, begun } = { format: 0, mark: null, made: null, begun: null, ...objectOf(read) }
  if (format !== FORMAT || typeof mark !== 'string' || !/^[0-9a-z]{1,16}$/.test(mark))
    throw new Error('it is not as it was written')
  return { mark, made: listOf(made, parseMade), begun: listOf(begun, parseBegun) }
}

function objectOf(read: unknown): object {
  return typeof read === 'object' && read !== null ? read : {}
}

function listOf<T>(read: unknown, parse: (item: object) => T | null): T[] {
  if (!Array.isArray(read)) return []
  return read.map((item) => parse(objectOf(item))).filter((item) => item !== null)
}

function parseMade(read: object): RecordedBackup | null {
  const { at, bytes, durationMs } = { at: null, bytes: null, durationMs: null, ...read }
  const place = parseBegun(read)
  if (place === null || typeof at !== 'number' || typeof bytes !== 'number') return null
  return { ...place, at, bytes, durationMs: typeof durationMs === 'number' ? durationMs : null }
}

/** No separator, which could lead out of the folder. */
const PLAIN = /^\w[\w.-]*$/

function parseBegun(read: object): { folder: string; name: string } | null {
  const { folder, name } = { folder: null, name: null, ...read }
  const isWhole = typeof folder === 'string' && typeof name === 'string' && PLAIN.test(name)
  return isWhole ? { folder, name } : null
}
