// Makes a backup of a data folder, beside its server or without one, for the command line.

import { existsSync } from 'node:fs'
import { version } from '../../package.json'
import type { Now } from '../domain/time.ts'
import { createRelieve } from '../pushes/relief.ts'
import { dataFolder } from '../store/folder/data-folder.ts'
import { isServed } from '../store/folder/folder-lock.ts'
import { type NotedSetting, readSettingsNote } from '../store/folder/notes.ts'
import { asOwner } from '../store/folder/ownership.ts'
import {
  type BackedUpKey,
  type BackupSource,
  openBackupSource,
  readInstanceKey,
  readTlsAuthority,
  refuseInside,
} from '../store/opening/backup-source.ts'
import {
  createManifest,
  estimateBytes,
  type Manifest,
  type MemberSource,
  memberOfBytes,
  memberOfFile,
  writeBackup,
} from './archive.ts'
import { type FileDestination, openFileDestination } from './destination.ts'
import { type Seal, sealStream } from './sealing.ts'

export type { Seal }

/** What a backup needs to know of the settings. */
export type BackupSettings = {
  keyFile: string | null
  tlsAuthorityKey: string | null
  minFreeSpace: number
  settings: readonly NotedSetting[]
}

export type BackupWish = BackupSettings & {
  dataDir: string
  /** The path of a new file; null for `writeOutput`. */
  file: string | null
  /** Null does not encrypt the backup. */
  seal: Seal | null
}

export type BackupPorts = {
  now: Now
  /** Receives a backup that goes to no file. */
  writeOutput: (piece: Uint8Array) => Promise<void>
  /** Called before the database is copied, with its size. The copy blocks the event loop. */
  onCopying?: (bytes: number) => void
  /** Called often, once the backup is being written. */
  onProgress: (done: number, total: number) => void
  /** Called before and after each step: tests end the process there. */
  onStep?: (step: string) => void
}

/** Whose settings are in the backup. */
export type SettingsFrom = 'server' | 'last server' | 'command line'

export type BackupReport = {
  file: string | null
  /** Of the whole backup. */
  bytes: number
  isSealed: boolean
  manifest: Manifest
  settingsFrom: SettingsFrom
  key: BackedUpKey['state']
  tlsAuthority: BackedUpKey['state'] | 'unsealed'
  pushes: number
  accounts: number
  /** Rows of the database that are missing from the backup, because they are damaged. */
  leftOut: number
}

/**
 * Throws `conflict` or `disk_full`, and then leaves nothing behind. All that it writes to the data folder is a copy of the
 * database without what opens pushes. The copy has no name and disappears when the process ends.
 */
export async function backUp(wish: BackupWish, ports: BackupPorts): Promise<BackupReport> {
  const { dataDir, file, seal } = wish
  if (file !== null && existsSync(dataDir)) refuseInside(dataDir, file)
  const target = file === null ? null : openFileDestination(file, ports.onStep)
  try {
    const taken = asOwner(dataDir, () => take(wish, ports))
    try {
      const { madeAt, report, minFreeSpace } = taken
      const members = [...taken.members, await memberOfFile('oncebox.db', taken.source.descriptor)]
      const manifest = createManifest({ version, madeAt }, members)
      target?.requireRoom(estimateBytes(members), { dataDir, bytes: minFreeSpace })
      const stream = writeBackup(manifest, members)
      const sealed = seal === null ? stream : await sealStream(stream, seal)
      const bytes = await pour(sealed, { target, total: estimateBytes(members), ports })
      return { file, bytes, isSealed: seal !== null, manifest, ...report }
    } finally {
      taken.source.close()
    }
  } finally {
    target?.abort()
  }
}

/** Reads everything that comes from the folder. Only the database is too large to keep in memory. */
function take(wish: BackupWish, ports: BackupPorts) {
  const { now, onCopying = () => undefined, onStep } = ports
  const { dataDir } = wish
  const inEffect = settingsInEffect(wish)
  const { settingsFrom, minFreeSpace } = inEffect
  const madeAt = new Date(now()).toISOString()
  const source = openBackupSource({ dataDir, minFreeSpace, onCopying, onStep })
  try {
    const { pushes, accounts, leftOut } = source
    const { members, ...keys } = takeSmallMembers(wish, inEffect, source)
    const report = { settingsFrom, ...keys, pushes, accounts, leftOut }
    return { source, members, minFreeSpace, madeAt, report }
  } catch (cause) {
    source.close()
    throw cause
  }
}

/** The TLS authority goes only into encrypted backups: who has its key can pose as this server. */
function takeSmallMembers(
  { dataDir, seal }: BackupWish,
  inEffect: SettingsInEffect,
  { verifiers }: BackupSource,
) {
  const { settingsFrom, settings, keyFile, tlsAuthorityKey } = inEffect
  const described = `${JSON.stringify({ from: settingsFrom, settings }, null, 2)}\n`
  const key = readInstanceKey(dataDir, { keyFile, verifiers })
  const found = readTlsAuthority(dataDir, tlsAuthorityKey)
  const authority = found.state === 'included' && seal === null ? { state: 'unsealed' as const } : found
  const members: MemberSource[] = [
    memberOfBytes('settings.json', Buffer.from(described)),
    ...(key.state === 'included' ? [memberOfBytes('instance.key', key.bytes)] : []),
    ...(authority.state === 'included' ? [memberOfBytes('tls-authority.pem', authority.bytes)] : []),
  ]
  return { members, key: key.state, tlsAuthority: authority.state }
}

type SettingsInEffect = BackupSettings & { settingsFrom: SettingsFrom }

/**
 * Prefers what the server of the folder has noted. Without a running server, flags for the key files win. A flag for the free
 * space always wins.
 */
function settingsInEffect({ dataDir, ...given }: BackupWish): SettingsInEffect {
  const note = existsSync(dataDir) ? readSettingsNote(dataDir) : null
  if (note === null) return { ...given, settingsFrom: 'command line' }
  const isRunning = isServed(dataFolder(dataDir))
  const isGiven = (flag: string) => given.settings.some((one) => one.flag === flag && one.from !== 'default')
  return {
    settings: note.settings,
    keyFile: !isRunning && isGiven('key-file') ? given.keyFile : note.keyFile,
    tlsAuthorityKey:
      !isRunning && isGiven('tls-authority-key') ? given.tlsAuthorityKey : note.tlsAuthorityKey,
    minFreeSpace: isGiven('min-free-space') ? given.minFreeSpace : note.minFreeSpace,
    settingsFrom: isRunning ? 'server' : 'last server',
  }
}

type Pouring = { target: FileDestination | null; total: number; ports: BackupPorts }

/** Resolves to the number of bytes written, once the file is complete or the reader has them. */
async function pour(stream: ReadableStream<Uint8Array>, { target, total, ports }: Pouring): Promise<number> {
  const { writeOutput, onProgress } = ports
  const write = target?.write ?? writeOutput
  const relieve = createRelieve(() => Bun.gc(true))
  let bytes = 0
  for await (const piece of stream) {
    await write(piece)
    bytes += piece.length
    relieve(piece.length)
    onProgress(bytes, total)
  }
  await target?.finish()
  return bytes
}
