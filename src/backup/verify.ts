// `oncebox backup verify`, and the first half of a restore: reads a backup and copies its rows into a new
// database. A backup is untrusted input, so every row must pass the constraints of the new tables.

import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { type Keyring, parseKeyFile } from '../crypto/keyring.ts'
import { conflict, DomainError } from '../domain/errors.ts'
import { codeOf, reasonOf } from '../domain/system-errors.ts'
import type { Now } from '../domain/time.ts'
import { readKeyFile } from '../store/folder/key-file.ts'
import { openRestoredStore } from '../store/opening/restored-store.ts'
import { type MemberName, readBackup } from './archive.ts'
import { type BackupCredentials, openBackup } from './sealing.ts'

const VERIFY_PREFIX = 'oncebox-verify-'
const DATABASE = 'oncebox.db'
/** The database of the backup, until its rows are copied into the new one. */
const UNPACKED = 'unpacked.db'

export type BackupToRead = {
  /** The path of the backup, for messages. */
  file: string
  open: () => Promise<AsyncIterable<Uint8Array>>
  /** The instance key's file; null to use the key in the backup. */
  keyFile: string | null
}

/** `tempDir`: a folder with room for two temporary copies of the database. */
type VerifyWish = BackupToRead & { tempDir: string }

export type RestoringPorts = {
  now: Now
  credentials: BackupCredentials
  /** Called for every piece or row. Throttle before printing. */
  onProgress: (step: string, done: number, total: number) => void
}

export type VerifiedBackup = Examination['facts']

/** Proves that a backup can be restored. Throws `conflict` if it cannot. */
export async function verifyBackup(wish: VerifyWish, ports: RestoringPorts): Promise<VerifiedBackup> {
  const { tempDir } = wish
  const source = await wish.open()
  const folder = mkdtempSync(join(tempDir, VERIFY_PREFIX))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  try {
    const { facts, store } = await examine(source, { ...wish, ...ports, folder, place: tempDir })
    store.close()
    return facts
  } catch (cause) {
    throw explainFull(cause, tempDir)
  } finally {
    process.off('exit', remove)
    remove()
  }
}

type ExamineOptions = BackupToRead &
  RestoringPorts & {
    /** An empty folder that no other user can enter. */
    folder: string
    /** The folder that the operator named, for messages: it is on the same disk. */
    place: string
  }

export type Examination = Awaited<ReturnType<typeof examine>>

/** Creates the new database in the folder. The caller closes the store. `members` excludes the database. */
export async function examine(source: AsyncIterable<Uint8Array>, options: ExamineOptions) {
  const { file, folder, keyFile, now } = options
  const { seal, manifest, members } = await unpack(source, options)
  const from = join(folder, UNPACKED)
  using closing = new DisposableStack()
  const store = openRestoredStore({ from, path: join(folder, DATABASE), name: file })
  closing.defer(store.close)
  rmSync(from)
  const own = members.get('instance.key')
  const inside = own === undefined ? null : parseOwn(own.toString('utf8'), file)
  if (inside !== null) store.requireKeys({ keyring: inside, keyFile: `instance.key in ${file}` })
  // --key-file takes precedence over the key in the backup, because the server will use it.
  const outside = keyFile === null ? null : readKeyFile(keyFile)
  if (outside !== null && keyFile !== null) store.requireKeys({ keyring: outside, keyFile })
  const facts = {
    // `schema`: the schema version of the backup.
    ...{ seal, manifest, schema: store.schema, content: store.read(now()) },
    hasKeyFile: outside !== null,
    hasAuthority: members.has('tls-authority.pem'),
    hasKey: inside !== null,
  }
  closing.move()
  return { facts, store, keyring: outside ?? inside, members }
}

/**
 * Writes the database into the folder. Keeps the other members in memory until they are verified: they are
 * small and may be secret.
 */
async function unpack(source: AsyncIterable<Uint8Array>, options: ExamineOptions) {
  const { file, folder, place, credentials, onProgress } = options
  const members = new Map<MemberName, Buffer>()
  let [done, total] = [0, 0]
  const { seal, tar } = await openBackup(source, { file, credentials })
  await using database = await open(join(folder, UNPACKED), 'wx', 0o600)
  const manifest = await readBackup(tar, {
    file,
    onManifest: ({ members: listed }) => {
      total = listed.reduce((sum, { bytes }) => sum + bytes, 0)
      const { bavail, bsize } = statfsSync(folder)
      // Twice the size, because the rows are copied into a second database.
      if (bavail * bsize < 2 * total) throw full(place)
    },
    onPiece: async (name, piece) => {
      if (name !== DATABASE) members.set(name, Buffer.concat([members.get(name) ?? Buffer.alloc(0), piece]))
      // A write to a nearly full disk may be partial.
      else for (let at = 0; at < piece.length; ) at += (await database.write(piece, at)).bytesWritten
      done += piece.length
      onProgress('reading', done, total)
    },
  })
  return { seal, manifest, members }
}

function parseOwn(text: string, file: string): Keyring {
  try {
    return parseKeyFile(text)
  } catch (cause) {
    throw conflict(`The instance key in ${file} cannot be read: ${reasonOf(cause)}.`)
  }
}

/** Turns the errors of a full disk into `disk_full`. Returns any other cause unchanged. */
export function explainFull(cause: unknown, place: string): unknown {
  return /^(ENOSPC|EDQUOT|EFBIG|SQLITE_FULL)/.test(codeOf(cause)) ? full(place) : cause
}

function full(place: string): DomainError {
  return new DomainError(
    'disk_full',
    `The disk of ${place} has no room for two copies of the database in the backup. Nothing of it was kept.`,
  )
}
