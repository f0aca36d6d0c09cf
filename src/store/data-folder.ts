// The data folder: its paths, its closed doors, and the key file in it.

import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type Keyring, newKeyFile, parseKeyFile } from '../crypto/keyring.ts'
import { DomainError } from '../domain/errors.ts'

/** Ends the name of a file that is being written. */
const NEW = '.oncebox-new'

export type DataFolder = {
  path: string
  database: string
  key: string
  files: string
  lock: string
  openingLock: string
  holder: string
  reserve: string
}

export function dataFolder(path: string): DataFolder {
  return {
    path,
    database: join(path, 'oncebox.db'),
    key: join(path, 'instance.key'),
    files: join(path, 'files'),
    lock: join(path, 'serve.lock'),
    openingLock: join(path, 'open.lock'),
    holder: join(path, 'serve.holder'),
    reserve: join(path, 'reserve'),
  }
}

/** Makes the folder when it is missing and closes it to other users. A foreign folder is left alone. */
export function prepareDataFolder(folder: DataFolder, keyFile: string | null): void {
  try {
    if (mkdirSync(folder.path, { recursive: true, mode: 0o700 })) syncFolder(dirname(folder.path))
    if (!holdsData(folder)) {
      refuseBereft(folder)
      refuseForeign(folder, keyFile)
    }
    chmodSync(folder.path, 0o700)
  } catch (cause) {
    throw cause instanceof DomainError ? cause : cannot('use', folder.path, cause)
  }
}

/** For commands beside the server: throws unless a server has made its folder here. */
export function requireDataFolder(folder: DataFolder): void {
  if (holdsData(folder)) return
  refuseBereft(folder)
  const remedy = 'Start "oncebox serve" once, or name the right folder with --data-dir.'
  throw new DomainError('conflict', `There is no Oncebox data in ${folder.path}. ${remedy}`)
}

/** Reads the key file; makes one only where no database exists yet. */
export function readKeyring(folder: DataFolder, keyFile: string | null): Keyring {
  const path = keyFile ?? folder.key
  if (!existsSync(path)) makeKeyFile(path, folder)
  try {
    return parseKeyFile(readFileSync(path, 'utf8'))
  } catch (cause) {
    throw cannot('use the key file', path, cause)
  }
}

/** True when others on this machine may read the file. Windows tells nothing by modes. */
export function isReadableByOthers(path: string): boolean {
  return process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0
}

/** A database is empty until its first start has come far enough to write to it. */
function holdsData({ database }: DataFolder): boolean {
  return existsSync(database) && statSync(database).size > 0
}

/** For a database that holds nothing: what a server makes once there is one tells of another that was lost. */
export function refuseBereft(folder: DataFolder): void {
  const wasServed = existsSync(folder.lock) && (existsSync(folder.reserve) || existsSync(folder.files))
  if (!wasServed) return
  throw new DomainError(
    'conflict',
    `The database ${folder.database} is ${existsSync(folder.database) ? 'empty' : 'missing'}, though this folder was in use. ` +
      'Restore the folder from a backup, or name another one with --data-dir to begin anew.',
  )
}

function refuseForeign(folder: DataFolder, keyFile: string | null): void {
  const { database, key, lock, openingLock, holder } = folder
  const ours = new Set(
    [database, key, keyFile ?? key, lock, openingLock, holder].flatMap((path) =>
      ['', '-journal', '-wal', '-shm'].map((ending) => `${basename(path)}${ending}`),
    ),
  ).add('lost+found')
  const isOurs = (name: string) => ours.has(name) || name.endsWith(NEW)
  const foreign = readdirSync(folder.path).find((name) => !isOurs(name))
  if (foreign === undefined) return
  const found = `it holds no Oncebox data but other files (such as ${JSON.stringify(foreign)})`
  throw new DomainError(
    'conflict',
    `Cannot use ${folder.path}: ${found}. Name an empty or new folder with --data-dir.`,
  )
}

function makeKeyFile(path: string, folder: DataFolder): void {
  if (existsSync(folder.database)) {
    const remedy = 'Put the file back, or name it with --key-file. A new key would open nothing of it.'
    throw new DomainError(
      'conflict',
      `The key file ${path} is missing beside an existing database. ${remedy}`,
    )
  }
  try {
    writeDurably(path, newKeyFile())
  } catch (cause) {
    throw cannot('write the key file', path, cause)
  }
}

/** Whole or not at all, also when the process ends within it, and never over what another process has made meanwhile. */
function writeDurably(path: string, text: string): void {
  const unfinished = `${path}.${process.pid}${NEW}`
  const file = openSync(unfinished, 'w', 0o600)
  writeSync(file, text)
  fsyncSync(file)
  closeSync(file)
  try {
    linkSync(unfinished, path)
  } catch (cause) {
    // Not every disk knows links.
    if (existsSync(path)) throw cause
    renameSync(unfinished, path)
  }
  rmSync(unfinished, { force: true })
  syncFolder(dirname(path))
}

/** Makes a new name in a folder survive a power cut. Windows cannot open folders and needs no such thing. */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  fsyncSync(folder)
  closeSync(folder)
}

function cannot(what: string, path: string, cause: unknown): DomainError {
  const isFile = cause instanceof Error && 'syscall' in cause && cause.syscall === 'mkdir' && isOfFile(cause)
  const reason = isFile
    ? 'that is a file, or lies in one'
    : cause instanceof Error
      ? cause.message
      : String(cause)
  return new DomainError('conflict', `Cannot ${what} ${path}: ${reason}`)
}

function isOfFile(cause: Error): boolean {
  return 'code' in cause && (cause.code === 'EEXIST' || cause.code === 'ENOTDIR')
}
