// Finds the server of a data folder, for commands on the same machine: its address, and whether it answers.

import { isUp } from '../client/up.ts'
import { isUnixHost, socketPath } from '../http/door/unix-socket.ts'
import type { Log } from '../operating/log.ts'
import type { Config } from '../settings/table.ts'
import {
  type NotedSetting,
  readServingNote,
  readSettingsNote,
  readSetupLink,
  removeServingNote,
  writeServingNote,
  writeSettingsNote,
  writeSetupLink,
} from '../store/folder/notes.ts'
import { asOwner } from '../store/folder/ownership.ts'

export type LocalServer = NonNullable<ReturnType<typeof findServing>>

/**
 * Returns the server that holds a folder; null if there is none, or it does not listen yet. `setupLink`
 * creates the first administrator; null if there is one already, or the link is shown on a terminal. `isUp`:
 * whether the server answers and its database works. `settings` are those in effect, without secrets; null if
 * they cannot be read. Throws DomainError for another user's folder; root reads it as its owner.
 */
export function findServing(dataDir: string) {
  return asOwner(dataDir, () => {
    const note = readServingNote(dataDir)
    const settings = readSettingsNote(dataDir)?.settings ?? null
    return note && { ...note, settings, setupLink: readSetupLink(dataDir), isUp: () => isUp(note) }
  })
}

/**
 * Returns the address of any Oncebox on this port of this machine, even another user's; null when none
 * answers.
 */
export async function findServerOn(port: number): Promise<string | null> {
  const urls = ['https', 'http'].map((scheme) => `${scheme}://localhost:${port}`)
  const answers = await Promise.all(urls.map((url) => isUp({ url, socket: null })))
  return urls.find((_, index) => answers[index]) ?? null
}

type NotesOptions = {
  config: Config
  settings: readonly NotedSetting[]
  log: Log
}

/**
 * Writes notes of a running server for commands. Removes the note of a killed server. Failures are only
 * logged, because the server works without the notes.
 */
export function createNotes({ config, settings, log }: NotesOptions) {
  const { dataDir, host, keyFile, tlsAuthorityKey, minFreeSpace } = config

  function attempt<T>(what: string, work: () => T): T | null {
    try {
      return work()
    } catch (err) {
      log.warn({ err }, what)
      return null
    }
  }

  const removeServing = () =>
    attempt('could not remove the note of the address of this server', () => removeServingNote(dataDir))

  /** Writes the address of the server, and the settings in effect, which backups include. */
  function keep(url: string): void {
    const note = { pid: process.pid, url, socket: isUnixHost(host) ? socketPath(host) : null }
    attempt('could not write the note of the address of this server', () => writeServingNote(dataDir, note))
    const noted = settings.map(({ flag, value, from }) => ({ flag, value, from }))
    attempt('could not write the note of the settings: backups contain those of an earlier start', () =>
      writeSettingsNote(dataDir, { settings: noted, keyFile, tlsAuthorityKey, minFreeSpace }),
    )
  }

  /**
   * Writes the setup link to a file, if no terminal can show it. Returns its path; null when the disk
   * refuses.
   */
  function keepSetupLink(link: string): string | null {
    const write = () => writeSetupLink(dataDir, link)
    const path = attempt('could not write the setup link to a file', write)
    if (path !== null) log.info({ path }, 'there is no administrator yet: wrote the setup link to a file')
    return path
  }

  removeServing()
  return { removeServing, keep, keepSetupLink }
}
