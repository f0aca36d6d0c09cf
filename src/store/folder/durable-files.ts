// Small files that only the user of this process may read. Each write is atomic: after a power cut the file
// has the old text or the new one.

import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { conflict } from '../../domain/errors.ts'
import { codeOf, reasonOf } from '../../domain/system-errors.ts'
import { atStep } from '../durable-steps.ts'
import { type OwnedPath, requireOwn } from './ownership.ts'

/** The suffix of a file that is being written. */
export const NEW = '.oncebox-new'
const UNFINISHED = /\.\d+\.oncebox-new$/

/**
 * Removes the unfinished copies of the file `name`, or of all files, that killed processes left in a folder.
 * One may hold a former key. Call this while no other process may write there. Returns the paths that cannot
 * be removed.
 */
export function removeUnfinished(folder: string, name: string | null = null): string[] {
  // Ignore a folder that cannot be listed: a user may still be allowed to read a key file in it.
  const names = attempt(() => readdirSync(folder)) ?? []
  const left = names.filter((entry) => {
    const of = entry.replace(UNFINISHED, '')
    return of !== entry && (name ?? of) === of
  })
  return left.map((entry) => join(folder, entry)).filter((path) => attempt(() => rmSync(path)) === null)
}

/** Returns null when the system refuses. */
function attempt<T>(work: () => T): T | null {
  try {
    return work()
  } catch {
    return null
  }
}

/**
 * Makes a new name in a folder survive a power cut. Windows and some network disks cannot synchronize
 * folders.
 */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } catch (cause) {
    if (codeOf(cause) !== 'EINVAL') throw cause
  } finally {
    closeSync(folder)
  }
}

export function syncFile(path: string): void {
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}

/** Writes a new file. Throws when the path exists: link(2) fails then, while rename(2) would overwrite it. */
export function writeNew(path: string, text: string): void {
  const unfinished = writeBeside(path, text)
  try {
    linkSync(unfinished, path)
  } catch (cause) {
    // Some file systems have no hard links: then rename instead.
    if (existsSync(path)) throw cause
    renameSync(unfinished, path)
  }
  rmSync(unfinished, { force: true })
  syncFolder(dirname(path))
}

/** Writes a whole file, and replaces an existing one. A `kill -9` at any step leaves all of it or nothing. */
export function writeWhole(path: string, content: Uint8Array): void {
  renameSync(writeBeside(path, content), path)
  syncFolder(dirname(path))
}

/**
 * Replaces the text of a file, and keeps its owner and mode. A `kill -9` at any step leaves the old text or
 * the new one.
 */
export function replaceText(path: string, text: string): void {
  const unfinished = writeBeside(path, text, statSync(path))
  atStep('before the file has its name')
  renameSync(unfinished, path)
  atStep('before the name is on the disk')
  syncFolder(dirname(path))
}

/** Writes a temporary sibling and returns its path. `like`: copy its owner and mode. */
function writeBeside(path: string, content: string | Uint8Array, like?: Stats): string {
  const unfinished = `${path}.${process.pid}${NEW}`
  rmSync(unfinished, { force: true })
  const file = openSync(unfinished, 'wx', 0o600)
  try {
    atStep('before the text is written')
    writeFileSync(file, content)
    atStep('before the text is on the disk')
    if (like !== undefined && process.platform !== 'win32') {
      fchownSync(file, like.uid, like.gid)
      fchmodSync(file, like.mode & 0o777)
    }
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  return unfinished
}

type ClosedFile = {
  path: string
  /** Returns null without a file. Throws `conflict` when it belongs to another user, or cannot be read. */
  read(): Promise<string | null>
  /** Replaces the text. A `kill -9` at any step leaves the old text or the new one. */
  write(text: string): Promise<void>
}

const FILE: OwnedPath = { what: 'The file', flag: null }

/** A file that only its owner may read. */
export function createClosedFile(path: string): ClosedFile {
  async function read(): Promise<string | null> {
    requireOwn(path, FILE)
    try {
      return await readFile(path, 'utf8')
    } catch (cause) {
      if (codeOf(cause) === 'ENOENT') return null
      throw conflict(`Cannot read ${path}: ${reasonOf(cause)}.`)
    }
  }

  async function write(text: string): Promise<void> {
    const unfinished = `${path}.${process.pid}${NEW}`
    await rm(unfinished, { force: true })
    const file = await open(unfinished, 'wx', 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(unfinished, path)
    syncFolder(dirname(path))
  }

  return { path, read, write }
}
