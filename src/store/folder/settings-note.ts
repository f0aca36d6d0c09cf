// A note in the data folder of the settings that its server runs with, without secrets, for backups.

import { lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const MAX_BYTES = 256 * 1024

export type NotedSetting = { flag: string; value: string; from: string; isChanged: boolean }

export type SettingsNote = {
  /** Of the program. */
  version: string
  settings: NotedSetting[]
  /** Null for the file in the data folder. */
  keyFile: string | null
  tlsAuthorityKey: string | null
  minFreeSpace: number
}

function pathIn(dataDir: string): string {
  return join(dataDir, 'serve.settings')
}

/** Only the owner may read it. Replaces an earlier one, and stays when the server ends: a backup may come later. */
export function writeSettingsNote(dataDir: string, note: SettingsNote): void {
  rmSync(pathIn(dataDir), { force: true })
  // `wx` opens nothing that somebody has put there meanwhile.
  writeFileSync(pathIn(dataDir), `${JSON.stringify(note, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
}

/** Null when there is none, or none that can be read. */
export function readSettingsNote(dataDir: string): SettingsNote | null {
  try {
    const stats = lstatSync(pathIn(dataDir))
    return stats.isFile() && stats.size <= MAX_BYTES ? parseNote(readFileSync(pathIn(dataDir), 'utf8')) : null
  } catch {
    return null
  }
}

function parseNote(text: string): SettingsNote | null {
  const note: unknown = JSON.parse(text)
  if (typeof note !== 'object' || note === null) return null
  const { version, settings, keyFile, tlsAuthorityKey, minFreeSpace }: Record<string, unknown> = { ...note }
  const areWords = typeof version === 'string' && isPath(keyFile) && isPath(tlsAuthorityKey)
  if (!areWords || typeof minFreeSpace !== 'number' || !Array.isArray(settings)) return null
  return { version, settings: settings.flatMap(parseSetting), keyFile, tlsAuthorityKey, minFreeSpace }
}

function isPath(value: unknown): value is string | null {
  return value === null || typeof value === 'string'
}

function parseSetting(read: unknown): NotedSetting[] {
  if (typeof read !== 'object' || read === null) return []
  const { flag, value, from, isChanged }: Record<string, unknown> = { ...read }
  const isWhole =
    typeof flag === 'string' &&
    typeof value === 'string' &&
    typeof from === 'string' &&
    typeof isChanged === 'boolean'
  return isWhole ? [{ flag, value, from, isChanged }] : []
}
