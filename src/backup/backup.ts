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
  type MemberSource,
  memberOfBytes,
  memberOfFile,
  writeBackup,
} from './archive.ts'
import { type Destination, openDestination, requireRoom } from './destination.ts'
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
}

/** Whose settings are in the backup. */
export type SettingsFrom = 'server' | 'last server' | 'command line'

export type BackupReport = Awaited<ReturnType<typeof backUp>>

/**
 * `leftOut` tells how many rows of the database are missing from the backup, because they are damaged. Throws
 * `conflict` or `disk_full`, and then leaves nothing behind. All that it writes to the data folder is a copy
 * of the database without what opens pushes. The copy has no name and disappears when the process ends.
 */
export async function backUp(wish: BackupWish, ports: BackupPorts) {
  const { dataDir, file, seal } = wish
  if (file !== null && existsSync(dataDir)) refuseInside(dataDir, file)
  using closing = new DisposableStack()
  const target = file === null ? null : await openDestination(file)
  closing.defer(() => target?.abort())
  const madeAt = new Date(ports.now()).toISOString()
  const taken = asOwner(dataDir, () => take(wish, ports))
  const { source, inEffect, key, tlsAuthority } = taken
  closing.defer(source.close)
  const { pushes, accounts, leftOut } = source
  const { settingsFrom, minFreeSpace } = inEffect
  const members = await listMembers(taken)
  const manifest = createManifest({ version, madeAt }, members)
  const total = estimateBytes(members)
  if (file !== null) requireRoom(file, { bytes: total, dataDir, spare: minFreeSpace })
  const stream = writeBackup(manifest, members)
  const sealed = seal === null ? stream : await sealStream(stream, seal)
  const bytes = await pour(sealed, { target, total, ports })
  return {
    ...{ file, bytes, isSealed: seal !== null, manifest, settingsFrom, pushes, accounts, leftOut },
    key: key.state,
    tlsAuthority: tlsAuthority.state,
  }
}

/** Everything that comes from the folder. Only the database is too large to keep in memory. */
type Taken = {
  inEffect: ReturnType<typeof settingsInEffect>
  source: BackupSource
  key: BackedUpKey
  tlsAuthority: BackedUpKey | { state: 'unsealed' }
}

/** The TLS authority goes only into encrypted backups: who has its key can pose as this server. */
function take(wish: BackupWish, { onCopying = () => undefined }: BackupPorts): Taken {
  const { dataDir, seal } = wish
  const inEffect = settingsInEffect(wish)
  const { minFreeSpace, keyFile, tlsAuthorityKey } = inEffect
  const source = openBackupSource({ dataDir, minFreeSpace, onCopying })
  const key = readInstanceKey(dataDir, { keyFile, verifiers: source.verifiers })
  const found = readTlsAuthority(dataDir, tlsAuthorityKey)
  const tlsAuthority = found.state === 'included' && seal === null ? { state: 'unsealed' as const } : found
  return { inEffect, source, key, tlsAuthority }
}

async function listMembers({ inEffect, source, key, tlsAuthority }: Taken): Promise<MemberSource[]> {
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

/** Flags that are given win over what the server of the folder has noted. */
function settingsInEffect({
  dataDir,
  ...given
}: BackupWish): BackupSettings & { settingsFrom: SettingsFrom } {
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

type Pouring = { target: Destination | null; total: number; ports: BackupPorts }

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
