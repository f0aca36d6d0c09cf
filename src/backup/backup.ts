// Makes a backup of a data folder, whether or not its server is running. Used by the command line.

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
  type MemberSource,
  memberOfBytes,
  memberOfFile,
  writeBackup,
} from './archive.ts'
import { type Destination, openDestination, requireRoom } from './destination.ts'
import { type Seal, sealStream } from './sealing.ts'

export type { Seal }

/** The settings that a backup depends on, and the ones it records. */
type BackupSettings = {
  keyFile: string | null
  tlsAuthorityKey: string | null
  minFreeSpace: number
  settings: readonly NotedSetting[]
}

export type BackupWish = BackupSettings & {
  dataDir: string
  /** The path of a new file. Null writes the backup to `writeOutput`. */
  file: string | null
  /** Encrypts the backup; null leaves it unencrypted. */
  seal: Seal | null
}

export type BackupPorts = {
  now: Now
  /** Receives the backup if it is not written to a file. */
  writeOutput: (piece: Uint8Array) => Promise<void>
  /** Called before the database is copied, with its size in bytes. The copy blocks the event loop. */
  onCopying?: (bytes: number) => void
  /** Called for every piece written. Throttle before printing. */
  onProgress: (done: number, total: number) => void
}

/** The origin of the settings in the backup. */
type SettingsFrom = 'server' | 'last server' | 'command line'

export type BackupReport = Awaited<ReturnType<typeof backUp>>

/**
 * Makes a backup. `leftOut` counts the damaged rows that are missing from it. Throws `conflict` or
 * `disk_full`, and then leaves no file behind. Writes only a temporary file to the data folder: a copy of the
 * database without the secrets that open pushes. The file is unlinked at once, so it disappears with the
 * process.
 */
export async function backUp(wish: BackupWish, ports: BackupPorts) {
  const { dataDir, file, seal } = wish
  if (file !== null && existsSync(dataDir)) refuseInside(dataDir, file)
  using closing = new DisposableStack()
  const target = file === null ? null : await openDestination(file)
  closing.defer(() => target?.abort())
  const madeAt = new Date(ports.now()).toISOString()
  const contents = asOwner(dataDir, () => readFolder(wish, ports))
  const { source, inEffect, key, tlsAuthority } = contents
  closing.defer(source.close)
  const { pushes, accounts, leftOut } = source
  const { settingsFrom, minFreeSpace } = inEffect
  const members = await listMembers(contents)
  const manifest = createManifest({ version, madeAt }, members)
  const total = estimateBytes(members)
  if (file !== null) requireRoom(file, { bytes: total, dataDir, spare: minFreeSpace })
  const stream = writeBackup(manifest, members)
  const sealed = seal === null ? stream : await sealStream(stream, seal)
  const bytes = await writeAll(sealed, { target, total, ports })
  return {
    ...{ file, bytes, isSealed: seal !== null, manifest, settingsFrom, pushes, accounts, leftOut },
    key: key.state,
    tlsAuthority: tlsAuthority.state,
  }
}

/** The contents of the data folder. All but the database are small enough to keep in memory. */
type FolderContents = {
  inEffect: ReturnType<typeof settingsInEffect>
  source: BackupSource
  key: BackedUpKey
  tlsAuthority: BackedUpKey | { state: 'unsealed' }
}

/** Leaves the TLS authority out of unencrypted backups, because its key allows impersonating this server. */
function readFolder(wish: BackupWish, { onCopying = () => undefined }: BackupPorts): FolderContents {
  const { dataDir, seal } = wish
  const inEffect = settingsInEffect(wish)
  const { minFreeSpace, keyFile, tlsAuthorityKey } = inEffect
  const source = openBackupSource({ dataDir, minFreeSpace, onCopying })
  const key = readInstanceKey(dataDir, { keyFile, verifiers: source.verifiers })
  const found = readTlsAuthority(dataDir, tlsAuthorityKey)
  const tlsAuthority = found.state === 'included' && seal === null ? { state: 'unsealed' as const } : found
  return { inEffect, source, key, tlsAuthority }
}

async function listMembers({ inEffect, source, key, tlsAuthority }: FolderContents): Promise<MemberSource[]> {
  const { settingsFrom, settings } = inEffect
  const described = `${JSON.stringify({ from: settingsFrom, settings }, null, 2)}\n`
  const authority = tlsAuthority.state === 'included' ? tlsAuthority.bytes : null
  return [
    await memberOfBytes('settings.json', Buffer.from(described)),
    ...(key.state === 'included' ? [await memberOfBytes('instance.key', key.bytes)] : []),
    ...(authority === null ? [] : [await memberOfBytes('tls-authority.pem', authority)]),
    await memberOfFile('oncebox.db', source.descriptor),
  ]
}

/** Flags of this command take precedence over the settings that the folder's server has noted. */
function settingsInEffect(wish: BackupWish): BackupSettings & { settingsFrom: SettingsFrom } {
  const { dataDir, ...given } = wish
  const note = existsSync(dataDir) ? readSettingsNote(dataDir) : null
  if (note === null) return { ...given, settingsFrom: 'command line' }
  const from = (flag: string) =>
    given.settings.some((one) => one.flag === flag && one.from !== 'default') ? given : note
  return {
    settings: note.settings,
    keyFile: from('key-file').keyFile,
    tlsAuthorityKey: from('tls-authority-key').tlsAuthorityKey,
    minFreeSpace: from('min-free-space').minFreeSpace,
    settingsFrom: isServed(dataFolder(dataDir)) ? 'server' : 'last server',
  }
}

/** Resolves to the number of bytes, once the file is complete or the output has taken them all. */
async function writeAll(
  stream: ReadableStream<Uint8Array>,
  { target, total, ports }: { target: Destination | null; total: number; ports: BackupPorts },
): Promise<number> {
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
