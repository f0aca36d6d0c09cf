// Notes that a server leaves in its data folder for commands: where it listens, its settings, the result of
// its last backup, the marks of a node's row, and the link to create the first administrator.

import { existsSync, lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomBase32 } from '../../crypto/random.ts'
import type { MadeBackup } from '../../domain/backup-plan.ts'
import { conflict } from '../../domain/errors.ts'
import { dataFolder } from './data-folder.ts'
import { createClosedFile } from './durable-files.ts'
import { isServed } from './folder-lock.ts'

const MAX_BYTES = 256 * 1024

/**
 * Writes a note that only the owner may read, and replaces an earlier one. With `wx` it never opens a file
 * that another user has planted.
 */
function writeNote(path: string, text: string): void {
  rmSync(path, { force: true })
  writeFileSync(path, text, { mode: 0o600, flag: 'wx' })
}

/** Returns the text of a regular file; null if it is missing or unreadable. */
function readNote(path: string): string | null {
  try {
    const stats = lstatSync(path)
    return stats.isFile() && stats.size <= MAX_BYTES ? readFileSync(path, 'utf8') : null
  } catch {
    return null
  }
}

/** Returns the members of a JSON object; none for any other text. */
export function membersOf(text: string | null): Record<string, unknown> {
  try {
    const read: unknown = JSON.parse(text ?? 'null')
    return typeof read === 'object' && read !== null ? { ...read } : {}
  } catch {
    return {}
  }
}

export type ServingNote = {
  pid: number
  /** The address for a browser on this computer. */
  url: string
  /** The path of a Unix socket, which no browser opens; null for an address. */
  socket: string | null
}

const servingNoteIn = (dataDir: string) => join(dataDir, 'serve.url')

export function writeServingNote(dataDir: string, note: ServingNote): void {
  writeNote(servingNoteIn(dataDir), `${JSON.stringify(note)}\n`)
}

export function removeServingNote(dataDir: string): void {
  rmSync(servingNoteIn(dataDir), { force: true })
}

/**
 * Returns null unless a server holds the lock of the folder, because a killed server leaves its note behind.
 */
export function readServingNote(dataDir: string): ServingNote | null {
  const path = servingNoteIn(dataDir)
  if (!existsSync(path) || !isServed(dataFolder(dataDir))) return null
  const { pid, url, socket } = membersOf(readNote(path))
  const isWhole = typeof pid === 'number' && typeof url === 'string' && URL.canParse(url)
  return isWhole ? { pid, url, socket: typeof socket === 'string' ? socket : null } : null
}

export type NotedSetting = { flag: string; value: string; from: string }

/** The settings that a server runs with, without secrets, for backups. */
type SettingsNote = {
  settings: NotedSetting[]
  /** The path of the key file; null for the one in the data folder. */
  keyFile: string | null
  tlsAuthorityKey: string | null
  minFreeSpace: number
}

const settingsNoteIn = (dataDir: string) => join(dataDir, 'serve.settings')

/** Writes the settings. The note stays after the server has ended, for a later backup. */
export function writeSettingsNote(dataDir: string, note: SettingsNote): void {
  writeNote(settingsNoteIn(dataDir), `${JSON.stringify(note, null, 2)}\n`)
}

/** Returns null without a readable note. */
export function readSettingsNote(dataDir: string): SettingsNote | null {
  const note = membersOf(readNote(settingsNoteIn(dataDir)))
  const { settings, keyFile, tlsAuthorityKey, minFreeSpace } = note
  const arePaths = isPath(keyFile) && isPath(tlsAuthorityKey)
  if (!arePaths || typeof minFreeSpace !== 'number' || !Array.isArray(settings)) return null
  return { settings: settings.filter(isNotedSetting), keyFile, tlsAuthorityKey, minFreeSpace }
}

function isPath(value: unknown): value is string | null {
  return value === null || typeof value === 'string'
}

export function isNotedSetting(read: unknown): read is NotedSetting {
  if (typeof read !== 'object' || read === null) return false
  const { flag, value, from }: Record<string, unknown> = { ...read }
  return [flag, value, from].every((word) => typeof word === 'string')
}

const setupLinkIn = (dataDir: string) => join(dataDir, 'setup-link')

/** Writes the setup link to a file, for servers without a terminal. Returns the path. */
export function writeSetupLink(dataDir: string, link: string): string {
  writeNote(setupLinkIn(dataDir), `${link}\n`)
  return setupLinkIn(dataDir)
}

export function removeSetupLink(dataDir: string): void {
  rmSync(setupLinkIn(dataDir), { force: true })
}

/** Returns the link for this computer; null if there is none. */
export function readSetupLink(dataDir: string): string | null {
  return readNote(setupLinkIn(dataDir))?.split('\n')[0] || null
}

/** The folder of scheduled backups, and the result of the last one. */
export type BackupNote = {
  /** A random part of the names of backups, which distinguishes this data folder's backups from others. */
  mark: string
  last: (MadeBackup & { folder: string }) | null
}

const backupNoteIn = (dataDir: string) => createClosedFile(join(dataDir, 'backups.json'))

/** Reads the note; makes a new one if it is missing. Throws `conflict` for an unreadable one. */
export async function readBackupNote(dataDir: string): Promise<BackupNote> {
  const { path, read } = backupNoteIn(dataDir)
  const text = await read()
  if (text === null) return { mark: randomBase32(6), last: null }
  const { mark, last } = membersOf(text)
  if (typeof mark === 'string' && /^[0-9a-z]{1,16}$/.test(mark)) return { mark, last: parseLast(last) }
  throw conflict(
    `${path} is damaged. Remove it: backups go on then, and the earlier ones stay until you remove them.`,
  )
}

export async function writeBackupNote(dataDir: string, note: BackupNote): Promise<void> {
  await backupNoteIn(dataDir).write(`${JSON.stringify(note)}\n`)
}

function parseLast(read: unknown): BackupNote['last'] {
  if (typeof read !== 'object' || read === null) return null
  const { folder, name, at, bytes, durationMs, kept, isSameDisk }: Record<string, unknown> = { ...read }
  const areWords = typeof folder === 'string' && typeof name === 'string' && typeof isSameDisk === 'boolean'
  const areNumbers = typeof at === 'number' && typeof bytes === 'number' && typeof durationMs === 'number'
  if (!areWords || !areNumbers || typeof kept !== 'number') return null
  return { folder, name, at, bytes, durationMs, kept, isSameDisk }
}

/** The id and mark by which a node finds its row in the database. */
export type NodeNote = {
  /** The tag of the instance. Copies of its database have the same. */
  instance: string
  /** The last run of `expire-all`, in milliseconds since 1970; 0 for never. */
  expiredAllAt: number
  /** The id of the node, in hex. */
  node: string
  /** The last known mark of the node's row, and the next one. After a crash the row has one of the two. */
  last: string
  next: string
}

/** The file of the note, whose writes survive a power cut. */
export function createNodeNoteFile(dataDir: string) {
  const file = createClosedFile(dataFolder(dataDir).node)

  /** Returns null in a folder that was never served. Throws `conflict` for a file that cannot be read. */
  async function read(): Promise<NodeNote | null> {
    const text = await file.read()
    if (text === null) return null
    const { instance, expiredAllAt, node, last, next } = membersOf(text)
    if (typeof instance === 'string' && isTime(expiredAllAt) && isMark(node) && isMark(last) && isMark(next))
      return { instance, expiredAllAt, node, last, next }
    throw conflict(
      `The file ${file.path} is damaged: it tells whether the database was set back. If you know that it was not, remove the ` +
        'file and start again.',
    )
  }

  return { read, write: (note: NodeNote) => file.write(`${JSON.stringify(note)}\n`) }
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

function isMark(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{32}$/.test(value)
}
