// Makes a new name in a folder survive a power cut.

import { closeSync, fsyncSync, openSync } from 'node:fs'

/** Windows cannot open folders and needs no such thing. */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  fsyncSync(folder)
  closeSync(folder)
}
