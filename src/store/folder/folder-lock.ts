// Allows only one process to serve a data folder: a lock that ends with its process, and a note about its
// holder.

import { Database } from 'bun:sqlite'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { conflict, type DomainError } from '../../domain/errors.ts'
import { printableLine } from '../../text/printable.ts'
import { type DataFolder, explained } from './data-folder.ts'
import { explainFailure, isBusy } from './sqlite-failures.ts'

const PATIENCE_MS = 5_000
const RETRY_MS = 100

type FolderLock = { release(): void }

type LockOptions = {
  /** Milliseconds to wait for a server that is stopping, or for a command that opens the folder. */
  patience?: number
  /** Called with a sentence that names the holder when the wait begins. */
  onWarning?: (warning: string) => void
}

/** Locks the folder. Throws `conflict`, naming the holder, if it does not become free before the timeout. */
export async function lockFolder(
  folder: DataFolder,
  { patience = PATIENCE_MS, onWarning }: LockOptions,
): Promise<FolderLock> {
  const started = performance.now()
  for (let tries = 0; ; tries += 1) {
    const lock = tryLock(folder.lock)
    if (lock !== null) return hold(lock, folder)
    const holder = readHolder(folder)
    if (tries === 1) onWarning?.(`${printableLine(folder.path)} is in use: waiting for ${holder} to end`)
    if (performance.now() - started > patience) throw servedBy(holder, folder)
    await Bun.sleep(RETRY_MS)
  }
}

function hold(lock: Database, { holder }: DataFolder): FolderLock {
  try {
    const note = `process ${process.pid} on ${hostname()}\n`
    explained('write', holder, () => writeFileSync(holder, note, { mode: 0o600 }))
  } catch (cause) {
    lock.close()
    throw cause
  }
  const release = () => {
    try {
      rmSync(holder, { force: true })
    } catch {
      // A leftover note is harmless: it is read only while a process holds the lock.
    }
    lock.close()
  }
  return { release }
}

/**
 * Runs a part of a command while a server may be running. If none is, prevents one from starting meanwhile.
 */
export function besideServer<T>(folder: DataFolder, work: (isServed: boolean) => T): T {
  const lock = tryLock(folder.lock)
  try {
    return work(lock === null)
  } finally {
    lock?.close()
  }
}

/** Returns whether a server holds the folder. Read-only; a folder that was never served has no lock. */
export function isServed(folder: DataFolder): boolean {
  return existsSync(folder.lock) && besideServer(folder, (isServed) => isServed)
}

/**
 * Opens a transaction, which is the lock. Closing the database frees it, and so does the end of the process,
 * however it ends.
 */
function tryLock(path: string): Database | null {
  let database: Database | undefined
  try {
    database = new Database(path, { readwrite: true, create: true })
    // Keep the journal in memory: a file would fail on a full disk.
    database.run('PRAGMA journal_mode = MEMORY')
    database.run('BEGIN EXCLUSIVE')
    return database
  } catch (cause) {
    database?.close()
    if (isBusy(cause)) return null
    throw explainFailure(path, cause)
  }
}

function servedBy(holder: string, folder: DataFolder): DomainError {
  const remedy = 'Stop it first, or start this one with another --data-dir.'
  return conflict(`${folder.path} is already served by ${holder}. ${remedy}`)
}

function readHolder(folder: DataFolder): string {
  try {
    return readFileSync(folder.holder, 'utf8').trim()
  } catch {
    return 'another process'
  }
}
