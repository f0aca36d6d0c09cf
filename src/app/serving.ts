// Finds the server of a data folder, for commands on the same machine: where it listens, and whether it answers.

import { isUp } from '../client/up.ts'
import { isUnixHost, socketPath } from '../http/door/unix-socket.ts'
import type { Log } from '../operating/log.ts'
import type { Config } from '../settings/table.ts'
import {
  type NotedSetting,
  readServingNote,
  readSetupLink,
  removeServingNote,
  type ServingNote,
  writeServingNote,
  writeSettingsNote,
  writeSetupLink,
} from '../store/folder/notes.ts'
import { asOwner } from '../store/folder/ownership.ts'

export type Serving = ServingNote & {
  /** The link that makes the first administrator; null when there is one already, or when a terminal shows the link. */
  setupLink: string | null
  /** Whether it answers, and its database works. */
  isUp: () => Promise<boolean>
}

/**
 * Null when no server holds the folder, or when it does not listen yet. Throws DomainError for a folder of somebody else; root looks
 * into it as its owner.
 */
export function findServing(dataDir: string): Serving | null {
  return asOwner(dataDir, () => {
    const note = readServingNote(dataDir)
    return note && { ...note, setupLink: readSetupLink(dataDir), isUp: () => isUp(note) }
  })
}

/** The address of any Oncebox on this port of this machine, such as one of another user; null when none answers. */
export async function findServerOn(port: number): Promise<string | null> {
  const urls = ['https', 'http'].map((scheme) => `${scheme}://localhost:${port}`)
  const answers = await Promise.all(urls.map((url) => isUp({ url, socket: null })))
  return urls.find((_, index) => answers[index]) ?? null
}

/** Removes the note of a killed server. A failure to write is only logged, because only commands need the note. */
export function createServingNote(dataDir: string, log: Log) {
  const attempt = (what: string, work: () => void) => {
    try {
      work()
    } catch (err) {
      log.warn({ err }, `the note of where this server listens was not ${what}`)
    }
  }
  const remove = () => attempt('removed', () => removeServingNote(dataDir))
  remove()

  /** `host` is the setting. */
  function write({ url, host }: { url: string; host: string }): void {
    const socket = isUnixHost(host) ? socketPath(host) : null
    attempt('written', () => writeServingNote(dataDir, { pid: process.pid, url, socket }))
  }

  return { write, remove }
}

export type SettingsToNote = {
  version: string
  config: Pick<Config, 'dataDir' | 'keyFile' | 'tlsAuthorityKey' | 'minFreeSpace'>
  settings: readonly NotedSetting[]
}

/** For backups, which take the settings in effect along. A note that the disk refuses is missed by them alone. */
export function noteSettings({ version, config, settings }: SettingsToNote, log: Log): void {
  const { dataDir, keyFile, tlsAuthorityKey, minFreeSpace } = config
  const noted = settings.map(({ flag, value, from, isChanged }) => ({ flag, value, from, isChanged }))
  try {
    writeSettingsNote(dataDir, { version, settings: noted, keyFile, tlsAuthorityKey, minFreeSpace })
  } catch (err) {
    log.warn({ err }, 'the note of the settings was not written: a backup holds those of an earlier start')
  }
}

/** For the first administrator, where no terminal can show it: returns the path of the file, or null when the disk refuses. */
export function createKeepSetupLink(dataDir: string, log: Log) {
  return (link: string): string | null => {
    try {
      const path = writeSetupLink(dataDir, link)
      log.info({ path }, 'there is no administrator yet; a file holds the link that makes one')
      return path
    } catch (err) {
      log.error({ err }, 'the file of the link for the first administrator was not written')
      return null
    }
  }
}
