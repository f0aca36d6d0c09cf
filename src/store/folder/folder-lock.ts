// One serving process for a data folder: a lock that dies with its process, and a note of who holds it. A second lock is
// held by whoever looks at the folder before opening it, so that a command knows whether a server has done so.

import { Database } from 'bun:sqlite'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { DomainError } from '../../domain/errors.ts'
import { explainFailure } from '../sqlite/engine/database.ts'
import { isBusy } from '../sqlite/engine/refusals.ts'
import type { DataFolder } from './data-folder.ts'

const PATIENCE_MS = 5_000
const RETRY_MS = 100
/** A large log on a slow disk takes its time. */
const OPENING_PATIENCE_MS = 30_000

export type FolderLock = {
  /** The folder has been looked at, opened and brought up to date: commands may. */
  opened(): void
  release(): void
}

export type LockOptions = {
  /** Milliseconds for a server that is on its way out. */
  patience?: number
  /** Told when there is somebody to wait for. */
  onWait: (holder: string) => void
}

/** Throws `conflict`, naming the holder, when it stays. */
export async function lockFolder(
  folder: DataFolder,
  { patience = PATIENCE_MS, onWait }: LockOptions,
): Promise<FolderLock> {
  const started = performance.now()
  for (let tries = 0; ; tries += 1) {
    const tried = tryBoth(folder)
    if (typeof tried === 'object') return tried
    const holder = tried === 'served' ? readHolder(folder) : 'another process, which opens it'
    if (tries === 1) onWait(holder)
    if (performance.now() - started > (tried === 'served' ? patience : OPENING_PATIENCE_MS)) {
      throw tried === 'served' ? servedBy(holder, folder) : beingOpened(folder)
    }
    await Bun.sleep(RETRY_MS)
  }
}

function tryBoth(folder: DataFolder): FolderLock | 'served' | 'being opened' {
  const opening = tryLock(folder.openingLock)
  if (opening === null) return 'being opened'
  let serving: Database | null = null
  try {
    serving = tryLock(folder.lock)
    if (serving !== null) {
      writeFileSync(folder.holder, `process ${process.pid} on ${hostname()}\n`, { mode: 0o600 })
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
      // It says who holds the lock, and nobody asks when nobody does.
    }
    serving.close()
    opening.close()
  }
  return { opened: () => opening.close(), release }
}

/**
 * For a command, which opens the folder beside a server or without one; waits while somebody else does. Throws `conflict`
 * when that takes too long.
 */
export function whileOpening<T>(folder: DataFolder, open: (state: { isServed: boolean }) => T): T {
  const opening = tryLock(folder.openingLock, OPENING_PATIENCE_MS)
  if (opening === null) throw beingOpened(folder)
  let serving: Database | null = null
  try {
    serving = tryLock(folder.lock)
    return open({ isServed: serving === null })
  } finally {
    serving?.close()
    opening.close()
  }
}

/** The open transaction is the lock; closing frees it, and so does the kernel, whatever ends the process. */
function tryLock(path: string, patience = 0): Database | null {
  const database = openLock(path)
  try {
    database.run(`PRAGMA busy_timeout = ${patience}`)
    // A journal on disk would be a file that a full one has no room for.
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
