// Reads the content of a backup from a data folder, with or without a running server: a copy of the database
// without the secrets that open pushes, and the key files in the folder.

import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { findKey, parseKeyFile } from '../../crypto/keyring.ts'
import { conflict, DomainError } from '../../domain/errors.ts'
import { codeOf } from '../../domain/system-errors.ts'
import { atStep } from '../durable-steps.ts'
import { type DataFolder, dataFolder, requireDataFolder } from '../folder/data-folder.ts'
import { freeBytes } from '../folder/disk-space.ts'
import { besideServer } from '../folder/folder-lock.ts'
import { explainFailure, isFull } from '../folder/sqlite-failures.ts'
import type { KnownKey } from '../instance.ts'
import { takeLog } from '../sqlite/home.ts'
import { openKeylessCopy } from '../sqlite/keyless-copy.ts'

const MIB = 1024 * 1024
const COPY_PREFIX = 'backup-copy-'
const MAX_KEY_BYTES = 64 * 1024

export type BackupSource = {
  /** The version of the schema. */
  schema: number
  pushes: number
  accounts: number
  /** The number of rows left out of the copy, because the table forbids one of their values. */
  leftOut: number
  /** The keys that the database was written with. */
  verifiers: KnownKey[]
  /** The copy, open for reading until `close`. */
  descriptor: number
  close(): void
}

type BackupSourceOptions = {
  dataDir: string
  /** Bytes of the folder's disk that are left free. */
  minFreeSpace: number
  /** Called before the database is copied, with its size in bytes. */
  onCopying: (bytes: number) => void
}

/**
 * Copies the database without its keys. For a large one this blocks the event loop for seconds, but no other
 * process. Throws `conflict` for a folder without data, of another user, of a later version or with a damaged
 * database, and `disk_full` if its disk has no room.
 */
export function openBackupSource(options: BackupSourceOptions): BackupSource {
  const { dataDir, minFreeSpace, onCopying } = options
  const folder = dataFolder(dataDir)
  requireDataFolder(folder)
  onCopying(statSync(folder.database).size)
  try {
    const { copy, descriptor, close, isServed } = besideServer(folder, (isServed) => {
      if (!isServed) takeLog(folder)
      atStep('before the copy has a place')
      return { ...openCopy(folder, minFreeSpace), isServed }
    })
    try {
      atStep('before the copy is written')
      const leftOut = copy.write({ isServed })
      const counted = countIn(copy)
      copy.database.close(true)
      atStep('after the copy was written')
      return { ...counted, leftOut, descriptor, close }
    } catch (cause) {
      copy.database.close(true)
      close()
      throw cause
    }
  } catch (cause) {
    throw isFull(cause) ? noRoom(folder, minFreeSpace) : explainFailure(folder.database, cause)
  }
}

/**
 * Opens a temporary file in the data folder. Unlinks it at once, so that the system removes it when the
 * process ends, even by kill -9. On Windows the file keeps its name until `close`.
 */
function openCopy(folder: DataFolder, minFreeSpace: number) {
  const maxBytes = freeBytes(folder.path) - minFreeSpace
  if (maxBytes < MIB) throw noRoom(folder, minFreeSpace)
  removeCopyPlaces(folder)
  const path = join(folder.path, `${COPY_PREFIX}${process.pid}`)
  const descriptor = openSync(path, 'wx+', 0o600)
  const close = () => {
    closeSync(descriptor)
    rmSync(path, { force: true })
  }
  try {
    const copy = openKeylessCopy({ source: folder.database, path, maxBytes })
    atStep('before the copy loses its name')
    if (process.platform !== 'win32') rmSync(path)
    return { copy, descriptor, close }
  } catch (cause) {
    close()
    throw cause
  }
}

/** Removes leftovers of killed backups. Windows keeps files that are in use. */
export function removeCopyPlaces({ path }: DataFolder): void {
  for (const name of readdirSync(path).filter((name) => name.startsWith(COPY_PREFIX))) {
    try {
      rmSync(join(path, name), { force: true })
    } catch (cause) {
      if (process.platform !== 'win32') throw cause
    }
  }
}

function countIn({ database, schema }: Pick<ReturnType<typeof openKeylessCopy>, 'database' | 'schema'>) {
  const count = (table: string) =>
    database.query<{ n: number }, []>(`SELECT count(*) AS n FROM main.${table}`).get()?.n ?? 0
  const verifiers = database.query<KnownKey, []>('SELECT number, verifier FROM main.instance_keys').all()
  return { schema, pushes: count('pushes'), accounts: count('accounts'), verifiers }
}

function noRoom({ path }: DataFolder, minFreeSpace: number): DomainError {
  return new DomainError(
    'disk_full',
    `The disk of ${path} has no room for the copy of the database that a backup is made from: ` +
      `--min-free-space (${Math.ceil(minFreeSpace / MIB)} MiB) is kept free. Make room, or lower it. No backup was made.`,
  )
}

/** A key file, or why it is not in the backup. */
export type BackedUpKey =
  | { state: 'included'; bytes: Uint8Array }
  | { state: 'missing' | 'elsewhere' | 'unreadable' | 'foreign' }

/** `verifiers` belong to the keys that the database was written with. A file with other keys is `foreign`. */
export function readInstanceKey(
  dataDir: string,
  { keyFile, verifiers }: { keyFile: string | null; verifiers: readonly KnownKey[] },
): BackedUpKey {
  const found = readInFolder(dataDir, keyFile ?? dataFolder(dataDir).key)
  if (found.state !== 'included') return found
  try {
    const keyring = parseKeyFile(Buffer.from(found.bytes).toString('utf8'))
    const isForeign = verifiers.some(({ number, verifier }) => {
      const key = findKey(keyring, number)
      return key !== null && !Buffer.from(verifier).equals(key.verifier)
    })
    return isForeign ? { state: 'foreign' } : found
  } catch {
    return { state: 'unreadable' }
  }
}

export function readTlsAuthority(dataDir: string, authorityFile: string | null): BackedUpKey {
  return readInFolder(dataDir, authorityFile ?? dataFolder(dataDir).tlsAuthority)
}

/** Reads a key file in the data folder. Reports a symlink to a file outside of it as `elsewhere`. */
function readInFolder(dataDir: string, path: string): BackedUpKey {
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return { state: 'missing' }
    const real = realpathSync(path)
    if (!real.startsWith(`${realpathSync(dataDir)}${sep}`)) return { state: 'elsewhere' }
    const stats = statSync(real)
    const isKeyFile = stats.isFile() && stats.size <= MAX_KEY_BYTES
    return isKeyFile ? { state: 'included', bytes: readFileSync(real) } : { state: 'unreadable' }
  } catch (cause) {
    if (codeOf(cause) === '') throw cause
    return { state: 'unreadable' }
  }
}

/** Throws `conflict` for a path in the data folder. */
export function refuseInside(dataDir: string, path: string): void {
  const parent = dirname(path)
  // Opening the path will report this.
  if (!existsSync(parent)) return
  const inner = realpathSync(parent)
  const outer = realpathSync(dataDir)
  if (inner !== outer && !inner.startsWith(`${outer}${sep}`)) return
  throw conflict(
    `${path} lies in the data folder ${dataDir}: a backup there would be lost with it. Name another place, best on another disk.`,
  )
}
