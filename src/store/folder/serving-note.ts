// A note in the data folder that tells commands where its server listens.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dataFolder } from './data-folder.ts'
import { whileOpening } from './folder-lock.ts'

export type ServingNote = {
  pid: number
  /** The address for a browser on this computer. */
  url: string
  /** The path of a Unix socket, which no browser opens; null for an address. */
  socket: string | null
}

function pathIn(dataDir: string): string {
  return join(dataDir, 'serve.url')
}

/** Only the owner may read it. Replaces an earlier one. */
export function writeServingNote(dataDir: string, note: ServingNote): void {
  removeServingNote(dataDir)
  // `wx` fails when somebody has put a file or link there meanwhile.
  writeFileSync(pathIn(dataDir), `${JSON.stringify(note)}\n`, { mode: 0o600, flag: 'wx' })
}

export function removeServingNote(dataDir: string): void {
  rmSync(pathIn(dataDir), { force: true })
}

/** Null unless a server holds the lock of the folder, because a killed server leaves its note behind. */
export function readServingNote(dataDir: string): ServingNote | null {
  if (!existsSync(pathIn(dataDir))) return null
  const isServed = whileOpening(dataFolder(dataDir), (state) => state.isServed)
  return isServed ? readNote(pathIn(dataDir)) : null
}

/** Null when the server has removed it meanwhile. */
function readNote(path: string): ServingNote | null {
  try {
    return parseNote(readFileSync(path, 'utf8'))
  } catch {
    return null
  }
}

function parseNote(text: string): ServingNote | null {
  const note: unknown = JSON.parse(text)
  if (typeof note !== 'object' || note === null) return null
  const { pid, url, socket } = { pid: null, url: null, socket: null, ...note }
  const isWhole = typeof pid === 'number' && typeof url === 'string' && URL.canParse(url)
  return isWhole ? { pid, url, socket: typeof socket === 'string' ? socket : null } : null
}
