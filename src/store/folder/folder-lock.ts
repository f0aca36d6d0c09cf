// Lets one process serve a data folder: a lock that ends with its process, and a note of who holds it. A second lock is held
// while a server or a command checks and opens the folder, so that a command knows whether a server has done that already.

import { Database } from 'bun:sqlite'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { DomainError } from '../../domain/errors.ts'
import { type DataFolder, explained } from './data-folder.ts'
import { explainFailure, isBusy } from './sqlite-failures.ts'

const PATIENCE_MS = 5_000
const RETRY_MS = 100
/** Long, because checking a large log on a slow disk can take this long. */
const OPENING_PATIENCE_MS = 30_000
const OPENER = 'another process, which opens it'

export type FolderLock = {
  /** To be called once the folder is checked, opened and migrated: commands may open it from then on. */
  opened(): void
  release(): void
}

export type LockOptions = {
  /** Milliseconds to wait for a server that is stopping. */
  patience?: number
  /** Called when another process holds the folder and the wait begins. */
  onWait: (holder: string) => void
}

/** Throws `conflict`, naming the holder, when the folder does not become free in time. */
export async function lockFolder(
  folder: DataFolder,
  { patience = PATIENCE_MS, onWait }: LockOptions,
): Promise<FolderLock> {
  const started = performance.now()
  for (let tries = 0; ; tries += 1) {
    const tried = tryBoth(folder)
    if (typeof tried === 'object') return tried
    const { holder, within, refusal } = holdUp(folder, { tried, patience })
    if (tries === 1) onWait(holder)
    if (performance.now() - started > within) throw refusal()
    await Bun.sleep(RETRY_MS)
  }
}

type HoldUp = { holder: string; within: number; refusal: () => DomainError }

/** Who holds the folder, how long that is waited for, and what is said then. */
function holdUp(
  folder: DataFolder,
  { tried, patience }: { tried: 'served' | 'being opened'; patience: number },
): HoldUp {
  if (tried === 'being opened')
    return { holder: OPENER, within: OPENING_PATIENCE_MS, refusal: () => beingOpened(folder) }
  const holder = readHolder(folder)
  return { holder, within: patience, refusal: () => servedBy(holder, folder) }
}

function tryBoth(folder: DataFolder): FolderLock | 'served' | 'being opened' {
  const opening = tryLock(folder.openingLock)
  if (opening === null) return 'being opened'
  let serving: Database | null = null
  try {
    serving = tryLock(folder.lock)
    if (serving !== null) {
      const note = `process ${process.pid} on ${hostname()}\n`
      explained('write', folder.holder, () => writeFileSync(folder.holder, note, { mode: 0o600 }))
      return holdBoth(opening, serving, folder)
    }
  } catch (cause) {
    serving?.close()
    opening.close()
    throw cause
  }
  opening.close()
  return 'served'
}

function holdBoth(opening: Database, serving: Database, folder: DataFolder): FolderLock {
  const release = () => {
    try {
      rmSync(folder.holder, { force: true })
    } catch {
      // A leftover note is harmless: it is read only while somebody holds the lock.
    }
    serving.close()
    opening.close()
  }
  return { opened: () => opening.close(), release }
}

/**
 * Opens the folder for a command, beside a server or without one. Waits while another process is opening it; throws
 * `conflict` when that takes too long.
 */
export function whileOpening<T>(folder: DataFolder, open: (state: { isServed: boolean }) => T): T {
  const opening = tryLock(folder.openingLock, OPENING_PATIENCE_MS)
  if (opening === null) throw holdUp(folder, { tried: 'being opened', patience: 0 }).refusal()
  let serving: Database | null = null
  try {
    serving = tryLock(folder.lock)
    return open({ isServed: serving === null })
  } finally {
    serving?.close()
    opening.close()
  }
}

/** An open transaction is the lock. Closing the database frees it, and the kernel does when the process ends in any way. */
function tryLock(path: string, patience = 0): Database | null {
  const database = openLock(path)
  try {
    database.run(`PRAGMA busy_timeout = ${patience}`)
    // A journal in a file would fail on a full disk.
    database.run('PRAGMA journal_mode = MEMORY')
    database.run('BEGIN EXCLUSIVE')
    return database
  } catch (cause) {
    database.close()
    if (isBusy(cause)) return null
    throw explainFailure(path, cause)
  }
}

function openLock(path: string): Database {
  try {
    return new Database(path, { readwrite: true, create: true })
  } catch (cause) {
    throw explainFailure(path, cause)
  }
}

function servedBy(holder: string, folder: DataFolder): DomainError {
  const remedy = 'Stop it first, or start this one with another --data-dir.'
  return new DomainError('conflict', `${folder.path} is already served by ${holder}. ${remedy}`)
}

function beingOpened(folder: DataFolder): DomainError {
  return new DomainError('conflict', `${folder.path} is being opened by another process: try again.`)
}

function readHolder(folder: DataFolder): string {
  try {
    return readFileSync(folder.holder, 'utf8').trim()
  } catch {
    return 'another process'
  }
}

/** Whether a server holds the folder. Writes nothing; a folder that was never served has no lock. */
export function isServed(folder: DataFolder): boolean {
  if (!existsSync(folder.lock)) return false
  const free = tryLock(folder.lock)
  free?.close()
  return free === null
}
