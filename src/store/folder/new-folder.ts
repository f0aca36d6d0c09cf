// A data folder that is created as a whole or not at all: its files are prepared in a folder within it, and
// then moved into place. The database comes last, because a server does not accept a folder without one as
// its own.

import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { conflict, type DomainError } from '../../domain/errors.ts'
import { atStep } from '../durable-steps.ts'
import { type DataFolder, dataFolder, FOLDER } from './data-folder.ts'
import { syncFile, syncFolder } from './durable-files.ts'
import { requireOwn } from './ownership.ts'

const PREFIX = '.oncebox-restore-'

export type NewFolder = {
  /** The folder with the unfinished files, under their final names. */
  unfinished: DataFolder
  /** Moves the files into place, durably. No process may have them open. */
  complete(): void
  /** Removes everything that was created. Does nothing after `complete`. */
  abandon(): void
}

/** Throws `conflict` if the path is occupied. Read-only. */
export function requireVacant(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw occupied(path, 'that is no folder')
  const names = readdirSync(path)
  const remains = names.some((name) => name.startsWith(PREFIX)) ? remainsIn(path) : []
  // Ignore lost+found, which the root of a disk contains.
  const isOurs = (name: string) =>
    name === 'lost+found' || name.startsWith(PREFIX) || remains.includes(join(path, name))
  const other = names.find((name) => !isOurs(name))
  if (other !== undefined) throw occupied(path, `it is not empty (there is ${JSON.stringify(other)})`)
}

/** Lists the files that a killed restore had moved into place, the database last. */
function remainsIn(path: string): string[] {
  const { database, key, tlsAuthority } = dataFolder(path)
  return existsSync(database) ? [] : [key, tlsAuthority]
}

/** Creates the folder if it is missing. Removes what killed restores have left in it. */
export function prepareNewFolder(path: string): NewFolder {
  requireVacant(path)
  const place = resolve(path)
  atStep('before the unfinished folder')
  const made = mkdirSync(place, { recursive: true, mode: 0o700 }) ?? null
  requireOwn(place, FOLDER)
  const clear = () => {
    const unfinished = readdirSync(place).filter((name) => name.startsWith(PREFIX))
    for (const left of [...unfinished.map((name) => join(place, name)), ...remainsIn(place)])
      rmSync(left, { recursive: true, force: true })
  }
  clear()
  // Use a random name. Of two restores into one folder, the first one then fails.
  const unfinished = mkdtempSync(join(place, PREFIX))

  function complete(): void {
    chmodSync(place, 0o700)
    for (const name of readdirSync(unfinished)) syncFile(join(unfinished, name))
    const database = basename(dataFolder(place).database)
    const others = readdirSync(unfinished).filter((name) => name !== database)
    for (const name of [...others, database]) {
      atStep(`before ${name} is moved`)
      if (name === database) syncFolder(place)
      renameSync(join(unfinished, name), join(place, name))
    }
    atStep('after the moves')
    rmdirSync(unfinished)
    syncFolder(place)
    if (made !== null) syncFolder(dirname(made))
    process.off('exit', abandon)
  }

  function abandon(): void {
    process.off('exit', abandon)
    if (existsSync(dataFolder(place).database)) return
    clear()
    if (made !== null) removeEmpty(place, made)
  }

  // Covers signals too, after which the process exits.
  process.once('exit', abandon)
  return { unfinished: dataFolder(unfinished), complete, abandon }
}

/** Removes folders from `path` up to `last`. */
function removeEmpty(path: string, last: string): void {
  try {
    rmdirSync(path)
    if (path !== last) removeEmpty(dirname(path), last)
  } catch {
    // The folder is not empty: another process has created something there meanwhile. Keep it.
  }
}

function occupied(path: string, why: string): DomainError {
  return conflict(
    `Cannot restore into ${path}: ${why}. A restore never replaces anything: name a new or empty folder with --data-dir.`,
  )
}
