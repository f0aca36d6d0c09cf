// One serving process for a data folder: a lock that dies with its process, and a note of who holds it.

import { Database } from 'bun:sqlite'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { DomainError } from '../domain/errors.ts'
import type { DataFolder } from './data-folder.ts'
import { isBusy } from './group-commit.ts'

const PATIENCE_MS = 5_000
const RETRY_MS = 100
const MOMENT_MS = 50

export type FolderLock = { release(): void }

/** Waits up to 5 s for a process that is on its way out; then throws, naming the holder. */
export async function lockFolder(folder: DataFolder, patience = PATIENCE_MS): Promise<FolderLock> {
  const deadline = performance.now() + patience
  for (;;) {
    const database = tryLock(folder.lock, 'BEGIN EXCLUSIVE')
    if (database !== null) {
      writeFileSync(folder.holder, `process ${process.pid} on ${hostname()}\n`, { mode: 0o600 })
      return { release: () => release(database, folder) }
    }
    if (performance.now() > deadline) throw refusal(folder)
    await Bun.sleep(RETRY_MS)
  }
}

/** Runs a work for a command, unless there is a server: then false, since that has done it. Commands share the lock. */
export function whileUnserved(folder: DataFolder, work: () => void): boolean {
  // Long enough for a server that is refused for a command's sake: its try bars others for a moment.
  const database = tryLock(folder.lock, 'BEGIN; SELECT count(*) FROM sqlite_master', MOMENT_MS)
  if (database === null) return false
  try {
    work()
    return true
  } finally {
    database.close()
  }
}

/** The open transaction is the lock; the kernel frees it, whatever ends the process. */
function tryLock(path: string, statements: string, patience = 0): Database | null {
  const database = new Database(path, { readwrite: true, create: true })
  try {
    database.run(`PRAGMA busy_timeout = ${patience}`)
    database.run(statements)
    return database
  } catch (cause) {
    database.close()
    if (isBusy(cause)) return null
    throw cause
  }
}

function release(database: Database, folder: DataFolder): void {
  rmSync(folder.holder, { force: true })
  database.run('ROLLBACK')
  database.close()
}

function refusal(folder: DataFolder): DomainError {
  const remedy = 'Stop it first, or start this one with another --data-dir.'
  return new DomainError('conflict', `${folder.path} is already served by ${readHolder(folder)}. ${remedy}`)
}

function readHolder(folder: DataFolder): string {
  try {
    return readFileSync(folder.holder, 'utf8').trim()
  } catch {
    return 'another process'
  }
}
