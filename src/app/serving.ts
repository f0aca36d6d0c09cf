// Finds the server of a data folder, for commands on the same machine: where it listens, and whether it
// answers.

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

export type Serving = NonNullable<ReturnType<typeof findServing>>

/**
 * `setupLink` makes the first administrator; null when there is one already, or when a terminal shows the
 * link. `isUp`: whether it answers, and its database works. Null when no server holds the folder, or when it
 * does not listen yet. `settings`: those that it runs with, without secrets; null when they cannot be read.
 * Throws DomainError for a folder of somebody else; root looks into it as its owner.
 */
export function findServing(dataDir: string) {
  return asOwner(dataDir, () => {
    const note = readServingNote(dataDir)
    const settings = readSettingsNote(dataDir)?.settings ?? null
    return note && { ...note, settings, setupLink: readSetupLink(dataDir), isUp: () => isUp(note) }
  })
}

/**
 * The address of any Oncebox on this port of this machine, such as one of another user; null when none
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
 * What a server writes down for commands. Removes the note of a killed server. A failure is only logged,
 * because the server works without.
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
    attempt('the note of where this server listens was not removed', () => removeServingNote(dataDir))

  /** Where it listens, and the settings in effect, which backups take along. */
  function keep(url: string): void {
    const note = { pid: process.pid, url, socket: isUnixHost(host) ? socketPath(host) : null }
    attempt('the note of where this server listens was not written', () => writeServingNote(dataDir, note))
    const noted = settings.map(({ flag, value, from }) => ({ flag, value, from }))
    attempt('the note of the settings was not written: a backup holds those of an earlier start', () =>
      writeSettingsNote(dataDir, { settings: noted, keyFile, tlsAuthorityKey, minFreeSpace }),
    )
  }

  /**
   * For the first administrator, where no terminal can show it: returns the path of the file, or null when
   * the disk refuses.
   */
  function keepSetupLink(link: string): string | null {
    const write = () => writeSetupLink(dataDir, link)
    const path = attempt('the file of the link for the first administrator was not written', write)
    if (path !== null)
      log.info({ path }, 'there is no administrator yet; a file holds the link that makes one')
    return path
  }

  removeServing()
  return { removeServing, keep, keepSetupLink }
}
