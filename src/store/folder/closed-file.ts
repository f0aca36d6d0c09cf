// A small file of secrets that only the user of this process may read. It is replaced atomically.

import { open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DomainError } from '../../domain/errors.ts'
import { codeOf, reasonOf } from '../../domain/system-errors.ts'
import { type Belonging, requireOwn } from './ownership.ts'
import { syncFolder } from './sync-folder.ts'

export type ClosedFile = {
  path: string
  /** Null when there is none. Throws `conflict` when it belongs to another user, or cannot be read. */
  read(): Promise<string | null>
  /** Survives a power cut, and a `kill -9` at any step leaves the old text or the new one. */
  write(text: string): Promise<void>
}

const BELONGING: Belonging = {
  what: 'The file',
  remedy:
    'Who put it there may know what is in it. Put your own in its place, or take it over (chown {me}) when you know where it ' +
    'comes from.',
}

export function createClosedFile(path: string): ClosedFile {
  async function read(): Promise<string | null> {
    requireOwn(path, BELONGING)
    try {
      return await readFile(path, 'utf8')
    } catch (cause) {
      if (codeOf(cause) === 'ENOENT') return null
      throw new DomainError('conflict', `Cannot read ${path}: ${reasonOf(cause)}.`)
    }
  }

  async function write(text: string): Promise<void> {
    const unfinished = `${path}.${process.pid}.oncebox-new`
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
