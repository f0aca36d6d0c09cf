// A data folder that is made as a whole or not at all: its files are put together elsewhere on the same disk, and moved.

import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { DomainError } from '../../domain/errors.ts'
import { type DataFolder, dataFolder } from './data-folder.ts'
import { type Belonging, requireOwn } from './ownership.ts'
import { syncFolder } from './sync-folder.ts'
import { removeUnfinished, unfinishedName } from './unfinished.ts'

const PREFIX = '.oncebox-restore-'
/** The root of a disk has it. */
const NOTHING = new Set(['lost+found'])
const FOLDER: Belonging = {
  what: 'The folder',
  remedy: 'Run this as {owner}, or name another folder with --data-dir.',
}

export type NewFolder = {
  /** Where the files are put, by the names that they will have. */
  unfinished: DataFolder
  /** Moves them to their place, durably; the database comes last. Nothing may have them open. */
  complete(): void
  /** Leaves everything as it was before. Does nothing once it is complete. */
  abandon(): void
}

/** Called before and after everything that is made durable: tests end the process there. */
export type OnStep = (step: string) => void

/** Throws `conflict` when something is there already. Changes nothing. */
export function requireVacant(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw occupied(path, 'that is no folder')
  const names = readdirSync(path).filter((name) => !NOTHING.has(name))
  const remains = names.some(isOfRestore) ? remainsIn(path) : []
  const other = names.find((name) => !isOfRestore(name) && !remains.includes(name))
  if (other !== undefined) throw occupied(path, `it is not empty (there is ${JSON.stringify(other)})`)
}

/** What a killed restore had moved to its place: all but the database, which comes last. */
function remainsIn(path: string): string[] {
  const { database, key, tlsAuthority } = dataFolder(path)
  return existsSync(database) ? [] : [key, tlsAuthority].map((file) => basename(file))
}

/**
 * An empty folder may exist, also as the root of a disk: then its files are put together within it. Otherwise they are put
 * together beside its place. Removes what killed restores have left.
 */
export function prepareNewFolder(path: string, onStep: OnStep): NewFolder {
  requireVacant(path)
  return existsSync(path) ? withinFolder(resolve(path), onStep) : besidePlace(resolve(path), onStep)
}

function besidePlace(place: string, onStep: OnStep): NewFolder {
  const parent = dirname(place)
  const made = mkdirSync(parent, { recursive: true, mode: 0o700 }) ?? null
  const prefix = `${PREFIX}${basename(place)}-`
  removeUnfinished(parent, prefix)
  const unfinished = join(parent, unfinishedName(prefix))
  onStep('before the unfinished folder')
  mkdirSync(unfinished, { mode: 0o700 })

  function complete(): void {
    synchronize(unfinished)
    onStep('before the rename')
    // Replaces nothing but an empty folder.
    renameSync(unfinished, place)
    onStep('after the rename')
    syncFolder(parent)
    if (made !== null) syncFolder(dirname(made))
  }

  return removable(unfinished, { complete, undo: () => made !== null && removeEmpty(parent, made) })
}

function withinFolder(place: string, onStep: OnStep): NewFolder {
  requireOwn(place, FOLDER)
  const { inUse } = removeUnfinished(place, PREFIX)
  if (inUse[0] !== undefined)
    throw occupied(place, `another restore is under way in it (${JSON.stringify(inUse[0])})`)
  for (const name of remainsIn(place)) rmSync(join(place, name), { force: true })
  const unfinished = join(place, unfinishedName(PREFIX))
  onStep('before the unfinished folder')
  mkdirSync(unfinished, { mode: 0o700 })

  function complete(): void {
    chmodSync(place, 0o700)
    synchronize(unfinished)
    const database = basename(dataFolder(place).database)
    const others = readdirSync(unfinished).filter((name) => name !== database)
    // A server takes a folder with a database for a whole one.
    for (const name of [...others, database]) {
      onStep(`before ${name} is moved`)
      if (name === database) syncFolder(place)
      renameSync(join(unfinished, name), join(place, name))
    }
    onStep('after the moves')
    rmdirSync(unfinished)
    syncFolder(place)
  }

  const undo = () => {
    for (const name of remainsIn(place)) rmSync(join(place, name), { force: true })
  }
  return removable(unfinished, { complete, undo })
}

/** Removes the unfinished folder also when the process is asked to end. */
function removable(path: string, { complete, undo }: { complete(): void; undo(): void }): NewFolder {
  let isDone = false
  const abandon = () => {
    process.off('exit', abandon)
    if (isDone) return
    rmSync(path, { recursive: true, force: true })
    undo()
    isDone = true
  }
  process.once('exit', abandon)
  return {
    unfinished: dataFolder(path),
    complete: () => {
      complete()
      isDone = true
      process.off('exit', abandon)
    },
    abandon,
  }
}

function isOfRestore(name: string): boolean {
  return name.startsWith(PREFIX)
}

function synchronize(folder: string): void {
  for (const name of readdirSync(folder)) {
    const file = openSync(join(folder, name), 'r+')
    fsyncSync(file)
    closeSync(file)
  }
  syncFolder(folder)
}

/** Folders above the place, up to the first one that was made for it. */
function removeEmpty(from: string, last: string): void {
  try {
    for (let path = from; ; path = dirname(path)) {
      rmdirSync(path)
      if (path === last) return
    }
  } catch {
    // Somebody has put something there meanwhile.
  }
}

function occupied(path: string, why: string): DomainError {
  return new DomainError(
    'conflict',
    `Cannot restore into ${path}: ${why}. A restore never replaces anything: name a new or empty folder with --data-dir.`,
  )
}
