// Keeps the link for the first administrator in a file, where no terminal can show it.

import type { Log } from '../operating/log.ts'
import { writeSetupLink } from '../store/folder/notes.ts'

/** Null when the disk refuses; the log tells why. */
export type KeepSetupLink = (link: string) => string | null

export function createKeepSetupLink(dataDir: string, log: Log): KeepSetupLink {
  return (link) => {
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
