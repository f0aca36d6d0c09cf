// The data folder: its paths, and whose it is.

import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { conflict, DomainError } from '../../domain/errors.ts'
import { codeOf, reasonOf } from '../../domain/system-errors.ts'
import { NEW, syncFolder } from './durable-files.ts'
import { KEY_FILE, type OwnedPath, requireOwn } from './ownership.ts'

/** The name of a copy of the database made before a migration, complete or unfinished. */
const COPY = /^before-update-from-\d+\.db(\.part)?$/

export type DataFolder = ReturnType<typeof dataFolder>

export function dataFolder(path: string) {
  return {
    path,
    database: join(path, 'oncebox.db'),
    key: join(path, 'instance.key'),
    files: join(path, 'files'),
    lock: join(path, 'serve.lock'),
    holder: join(path, 'serve.holder'),
    /** The mark of the database's last start, by which a restored database is recognised. */
    home: join(path, 'serve.home'),
    /** Exists from the start of a server to its clean end. */
    serving: join(path, 'serve.running'),
    /** The node's id and mark in the database server. */
    node: join(path, 'serve.node'),
    reserve: join(path, 'reserve'),
    /** The authority that --tls auto creates, and the certificate that it issued. */
    tlsAuthority: join(path, 'tls-authority.pem'),
    tlsCertificate: join(path, 'tls-certificate.pem'),
  }
}

export function isCopy(name: string): boolean {
  return COPY.test(name)
}

/**
 * Creates the folder if it is missing, and makes it private. Throws `conflict` if it contains foreign files,
 * or if it or one of its files belongs to another user.
 */
export function prepareDataFolder(folder: DataFolder, keyFile: string | null): void {
  prepare(folder, () => requireUsable(folder, keyFile))
}

/**
 * Prepares the folder like `prepareDataFolder`, for a node whose rows are in a database server. Throws
 * `conflict` if the folder has a database, too.
 */
export function prepareNodeFolder(folder: DataFolder, keyFile: string): void {
  prepare(folder, () => {
    requireOwn(folder.path, FOLDER)
    if (holdsData(folder)) throw holdsDatabase(folder)
    // An operator may have removed a damaged note from a folder that was served.
    const wasServed = existsSync(folder.node) || existsSync(folder.lock)
    if (!wasServed) refuseForeign(folder, keyFile)
  })
}

function prepare(folder: DataFolder, check: () => void): void {
  explained('use', folder.path, () => {
    if (mkdirSync(folder.path, { recursive: true, mode: 0o700 })) syncFolder(dirname(folder.path))
    check()
    chmodSync(folder.path, 0o700)
    requireOwnContents(folder)
  })
}

/** Throws `conflict` like `prepareDataFolder`. Read-only. */
export function requireUsable(folder: DataFolder, keyFile: string | null): void {
  requireOwn(folder.path, FOLDER)
  if (holdsData(folder)) return
  refuseBereft(folder)
  if (existsSync(folder.path)) refuseForeign(folder, keyFile)
}

/**
 * Throws unless a server has made its folder here, for the user of this process. Called by commands beside
 * the server.
 */
export function requireDataFolder(folder: DataFolder): void {
  explained('read', folder.path, () => {
    requireOwn(folder.path, FOLDER)
    if (holdsData(folder)) return requireOwnContents(folder)
    refuseBereft(folder)
    const remedy = 'Start "oncebox serve" once, or name the right folder with --data-dir.'
    throw conflict(`There is no Oncebox data in ${folder.path}. ${remedy}`)
  })
}

export const FOLDER: OwnedPath = { what: 'The data folder', flag: '--data-dir' }
const CONTENT: OwnedPath = { what: 'In the data folder,', flag: null }

/**
 * Checks the owner of each file. Call this after the folder was made private, so that no other user can add a
 * file.
 */
export function requireOwnContents(folder: DataFolder): void {
  requireOwn(folder.key, KEY_FILE)
  const { home, serving, files, reserve, tlsAuthority, tlsCertificate } = folder
  for (const path of [...pathsOf(folder), home, serving, files, reserve, tlsAuthority, tlsCertificate])
    requireOwn(path, CONTENT)
}

/** The paths of database, lock and lock note, with SQLite's companion files. */
function pathsOf({ database, lock, holder }: DataFolder): string[] {
  return [database, lock, holder].flatMap((path) =>
    ['', '-journal', '-wal', '-shm'].map((ending) => `${path}${ending}`),
  )
}

/** Whether the database contains anything. It is an empty file until its first migration. */
export function holdsData({ database }: DataFolder): boolean {
  return (statSync(database, { throwIfNoEntry: false })?.size ?? 0) > 0
}

/**
 * Throws `conflict` if the database is missing or empty although other files show that the folder had one, or
 * that its rows are in a database server.
 */
export function refuseBereft(folder: DataFolder): void {
  if (existsSync(folder.node))
    throw conflict(
      `${folder.path} belongs to a node whose rows PostgreSQL keeps: name that database with --database-url, or another folder ` +
        'with --data-dir.',
    )
  if (!existsSync(folder.home)) return
  throw conflict(
    `The database ${folder.database} is ${existsSync(folder.database) ? 'empty' : 'missing'}, though this folder was in use. ` +
      'Restore the folder from a backup, or name another one with --data-dir to begin anew.',
  )
}

function holdsDatabase({ path }: DataFolder): DomainError {
  return conflict(
    `${path} holds a database of its own, which nobody would see beside --database-url. Name another folder with ` +
      '--data-dir.',
  )
}

function refuseForeign(folder: DataFolder, keyFile: string | null): void {
  const others = [folder.key, keyFile ?? folder.key]
  const ours = new Set([...pathsOf(folder), ...others].map((path) => basename(path))).add('lost+found')
  const isOurs = (name: string) => ours.has(name) || name.endsWith(NEW) || isCopy(name)
  const foreign = readdirSync(folder.path).find((name) => !isOurs(name))
  if (foreign === undefined) return
  const found = `it holds no Oncebox data but other files (such as ${JSON.stringify(foreign)})`
  throw conflict(`Cannot use ${folder.path}: ${found}. Name an empty or new folder with --data-dir.`)
}

/** Turns errors of the system into a `conflict` that names the path. Rethrows a DomainError as it is. */
export function explained<T>(what: string, path: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (cause instanceof DomainError) throw cause
    const reason = REASONS[codeOf(cause)] ?? reasonOf(cause)
    throw conflict(`Cannot ${what} ${path}: ${reason}`)
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
