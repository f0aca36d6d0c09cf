// The data folder: its paths, its permissions, and the key file in it.

import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
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
import { type Keyring, newKeyFile, parseKeyFile } from '../../crypto/keyring.ts'
import { DomainError } from '../../domain/errors.ts'
import { codeOf, explainSystemError } from '../../domain/system-errors.ts'
import { type Belonging, KEY_FILE, requireOwn } from './ownership.ts'
import { syncFolder } from './sync-folder.ts'

/** The suffix of a file that is being written. */
export const NEW = '.oncebox-new'

/** The name of a copy of the database made before a migration, complete or unfinished. */
const COPY = /^before-update-from-\d+\.db(\.part)?$/

export type DataFolder = {
  path: string
  database: string
  key: string
  files: string
  lock: string
  openingLock: string
  holder: string
  /** By which a database that was put back is noticed. */
  home: string
  /** Lies here from the start of a server to its clean end. */
  serving: string
  /** By which a node knows its row in a database server again. */
  node: string
  reserve: string
  /** The own authority of --tls auto, and the certificate that it made. */
  tlsAuthority: string
  tlsCertificate: string
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
    home: join(path, 'serve.home'),
    serving: join(path, 'serve.running'),
    node: join(path, 'serve.node'),
    reserve: join(path, 'reserve'),
    tlsAuthority: join(path, 'tls-authority.pem'),
    tlsCertificate: join(path, 'tls-certificate.pem'),
  }
}

export function isCopy(name: string): boolean {
  return COPY.test(name)
}

/**
 * Makes the folder when it is missing, and closes it to other users. Throws `conflict` when it contains other files, or when
 * it or anything of ours in it belongs to another user.
 */
export function prepareDataFolder(folder: DataFolder, keyFile: string | null): void {
  explained('use', folder.path, () => {
    if (mkdirSync(folder.path, { recursive: true, mode: 0o700 })) syncFolder(dirname(folder.path))
    requireUsable(folder, keyFile)
    chmodSync(folder.path, 0o700)
    requireOwnContents(folder)
  })
}

/** Throws `conflict` as prepareDataFolder does. Changes nothing. */
export function requireUsable(folder: DataFolder, keyFile: string | null): void {
  requireOwn(folder.path, FOLDER)
  if (holdsData(folder)) return
  refuseBereft(folder)
  if (existsSync(folder.path)) refuseForeign(folder, keyFile)
}

/** For commands beside the server: throws unless a server has made its folder here, for the user of this process. */
export function requireDataFolder(folder: DataFolder): void {
  explained('read', folder.path, () => {
    requireOwn(folder.path, FOLDER)
    if (holdsData(folder)) return requireOwnContents(folder)
    refuseBereft(folder)
    const remedy = 'Start "oncebox serve" once, or name the right folder with --data-dir.'
    throw new DomainError('conflict', `There is no Oncebox data in ${folder.path}. ${remedy}`)
  })
}

export const FOLDER: Belonging = {
  what: 'The data folder',
  remedy:
    'Run this as {owner}, or name another folder with --data-dir. Take it over (chown -R {me}) only when you know where it ' +
    'comes from: who put it there may know its key.',
}
const CONTENT: Belonging = {
  what: 'In the data folder,',
  remedy:
    'Run this as {owner}, or take it over (chown {me}) when you know where it comes from: who put it there could read along.',
}

/** Once the folder is closed, nobody else can put anything there. */
export function requireOwnContents(folder: DataFolder): void {
  requireOwn(folder.key, KEY_FILE)
  const { home, serving, files, reserve, tlsAuthority, tlsCertificate } = folder
  for (const path of [...pathsOf(folder), home, serving, files, reserve, tlsAuthority, tlsCertificate])
    requireOwn(path, CONTENT)
}

/** All files of ours, with those that SQLite keeps beside a database. */
function pathsOf({ database, lock, openingLock, holder }: DataFolder): string[] {
  return [database, lock, openingLock, holder].flatMap((path) =>
    ['', '-journal', '-wal', '-shm'].map((ending) => `${path}${ending}`),
  )
}

/** Reads the key file; makes one only where no database exists yet. */
export function readKeyring(folder: DataFolder, keyFile: string | null): Keyring {
  const path = keyFile ?? folder.key
  return explained('use the key file', path, () => {
    // Container platforms mount key files that belong to root.
    requireOwn(path, KEY_FILE, { mayBeRoots: keyFile !== null })
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) makeKeyFile(path, folder)
    return parseKeyFile(readFileSync(path, 'utf8'))
  })
}

/** True when others on this machine may read the file. Always false on Windows, where modes do not show it. */
export function isReadableByOthers(path: string): boolean {
  return process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0
}

/** Whether the database contains anything. It is an empty file until its first migration. */
export function holdsData({ database }: DataFolder): boolean {
  return (statSync(database, { throwIfNoEntry: false })?.size ?? 0) > 0
}

/**
 * For a missing or empty database. Throws `conflict` when other files show that the folder had one, which was lost, or that a
 * database server keeps its rows.
 */
export function refuseBereft(folder: DataFolder): void {
  if (existsSync(folder.node))
    throw new DomainError(
      'conflict',
      `${folder.path} belongs to a node whose rows PostgreSQL keeps: name that database with --database-url, or another folder ` +
        'with --data-dir.',
    )
  if (!existsSync(folder.home)) return
  throw new DomainError(
    'conflict',
    `The database ${folder.database} is ${existsSync(folder.database) ? 'empty' : 'missing'}, though this folder was in use. ` +
      'Restore the folder from a backup, or name another one with --data-dir to begin anew.',
  )
}

export function refuseForeign(folder: DataFolder, keyFile: string | null): void {
  const others = [folder.home, folder.key, keyFile ?? folder.key]
  const ours = new Set([...pathsOf(folder), ...others].map((path) => basename(path))).add('lost+found')
  const isOurs = (name: string) => ours.has(name) || name.endsWith(NEW) || isCopy(name)
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
  explained('write the key file', path, () => writeDurably(path, newKeyFile()))
}

/** Writes a new file atomically and durably. Fails when another process has made the file meanwhile. */
export function writeDurably(path: string, text: string): void {
  const unfinished = `${path}.${process.pid}${NEW}`
  rmSync(unfinished, { force: true })
  const file = openSync(unfinished, 'wx', 0o600)
  writeSync(file, text)
  fsyncSync(file)
  closeSync(file)
  try {
    linkSync(unfinished, path)
  } catch (cause) {
    // Some file systems have no hard links.
    if (existsSync(path)) throw cause
    renameSync(unfinished, path)
  }
  rmSync(unfinished, { force: true })
  syncFolder(dirname(path))
}

/** Turns errors of the system into a `conflict` that names the path. Rethrows a DomainError as it is. */
export function explained<T>(what: string, path: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (cause instanceof DomainError) throw cause
    throw new DomainError('conflict', `Cannot ${what} ${path}: ${reasonOf(cause)}`)
  }
}

const OTHER = 'or name another path (--data-dir, --key-file).'
const PERMISSION = `permission denied. Run this as the user who owns it, ${OTHER}`
const NO_FOLDER = `a file is in its place, or a link that leads nowhere. Remove it, ${OTHER}`
const REASONS: Record<string, string> = {
  EACCES: PERMISSION,
  EPERM: PERMISSION,
  EEXIST: NO_FOLDER,
  ENOTDIR: NO_FOLDER,
  EROFS: `its disk is read-only. Mount it for writing, ${OTHER}`,
  ENOSPC: 'its disk has no room ("df -h"), or no inodes ("df -i"). Remove other files there.',
  ENOENT: `its folder does not exist. Make it, ${OTHER}`,
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  return REASONS[codeOf(cause)] ?? explainSystemError(cause) ?? cause.message
}
