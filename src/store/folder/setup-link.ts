// A file with the link for creating the first administrator, for servers without a terminal to show it.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

function pathIn(dataDir: string): string {
  return join(dataDir, 'setup-link')
}

/** Only the owner may read it. Replaces an earlier one, and returns its path. */
export function writeSetupLink(dataDir: string, link: string): string {
  const path = pathIn(dataDir)
  removeSetupLink(dataDir)
  // `wx` fails when somebody has put a file or link there meanwhile.
  writeFileSync(path, `${link}\n`, { mode: 0o600, flag: 'wx' })
  return path
}

export function removeSetupLink(dataDir: string): void {
  rmSync(pathIn(dataDir), { force: true })
}

/** The link for this computer; null when there is none. */
export function readSetupLink(dataDir: string): string | null {
  const text = existsSync(pathIn(dataDir)) ? readFileSync(pathIn(dataDir), 'utf8') : ''
  return text.split('\n')[0] || null
}
