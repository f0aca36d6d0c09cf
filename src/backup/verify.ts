// `oncebox backup verify`, and what a restore does first: reads a backup, and puts its rows into a new
// database. Of what the backup says of itself nothing is believed: every row passes the checks of the new
// tables.

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
import { type Opening, openBackup } from './sealing.ts'

const VERIFY_PREFIX = 'oncebox-verify-'
const DATABASE = 'oncebox.db'
/** The database as it lies in the backup, until its rows are in the new one. */
const UNPACKED = 'unpacked.db'

export type BackupToRead = {
  /** Names the backup in messages. */
  file: string
  open: () => Promise<AsyncIterable<Uint8Array>>
  /** Where the key lies that the backup does not hold; null for the one in the backup. */
  keyFile: string | null
}

/**
 * `tempDir`: a folder on a disk of this machine, which takes two copies of the database for as long as this
 * runs.
 */
export type VerifyWish = BackupToRead & { tempDir: string }

export type RestoringPorts = {
  now: Now
  opening: Opening
  /** Told often. */
  onProgress: (step: string, done: number, total: number) => void
}

export type VerifiedBackup = Examined['told']

/** Proves that a backup could be restored. Throws `conflict` when it cannot. */
export async function verifyBackup(wish: VerifyWish, ports: RestoringPorts): Promise<VerifiedBackup> {
  const { tempDir } = wish
  const source = await wish.open()
  const folder = mkdtempSync(join(tempDir, VERIFY_PREFIX))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  try {
    const { told, store } = await examine(source, { ...wish, ...ports, folder, place: tempDir })
    store.close()
    return told
  } catch (cause) {
    throw explainFull(cause, tempDir)
  } finally {
    process.off('exit', remove)
    remove()
  }
}

type Examining = BackupToRead &
  RestoringPorts & {
    /** Empty, and nobody else can enter it. */
    folder: string
    /** Whose disk it is on, as the person knows it. */
    place: string
  }

export type Examined = Awaited<ReturnType<typeof examine>>

/** Makes the new database in the folder. The caller closes the store. `members` are all but the database. */
export async function examine(source: AsyncIterable<Uint8Array>, options: Examining) {
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
  // A key file that is named decides, because the server will use that one.
  const outside = keyFile === null ? null : readKeyFile(keyFile)
  if (outside !== null && keyFile !== null) store.requireKeys({ keyring: outside, keyFile })
  const told = {
    /** `schema` is the version that the backup was made with. */
    ...{ seal, manifest, schema: store.schema, content: store.read(now()) },
    hasKeyFile: outside !== null,
    hasAuthority: members.has('tls-authority.pem'),
    hasKey: inside !== null,
  }
  closing.move()
  return { told, store, keyring: outside ?? inside, members }
}

/**
 * Writes the database into the folder. The other members, which are small and may be secret, lie in no file
 * until they fit.
 */
async function unpack(source: AsyncIterable<Uint8Array>, options: Examining) {
  const { file, folder, place, opening, onProgress } = options
  const members = new Map<MemberName, Buffer>()
  let [done, total] = [0, 0]
  const { seal, tar } = await openBackup(source, { file, opening })
  await using database = await open(join(folder, UNPACKED), 'wx', 0o600)
  const manifest = await readBackup(tar, {
    file,
    onManifest: ({ members }) => {
      total = members.reduce((sum, { bytes }) => sum + bytes, 0)
      const { bavail, bsize } = statfsSync(folder)
      // The rows go into a second database.
      if (bavail * bsize < 2 * total) throw full(place)
    },
    onPiece: async (name, piece) => {
      if (name !== DATABASE) members.set(name, Buffer.concat([members.get(name) ?? Buffer.alloc(0), piece]))
      // A write to a disk that is nearly full may take a part only.
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

/** What a full disk refuses; any other cause as it is. */
export function explainFull(cause: unknown, place: string): unknown {
  return /^(ENOSPC|EDQUOT|EFBIG|SQLITE_FULL)/.test(codeOf(cause)) ? full(place) : cause
}

function full(place: string): DomainError {
  return new DomainError(
    'disk_full',
    `The disk of ${place} has no room for what is in the backup, twice for a moment. Nothing was kept of it.`,
  )
}
