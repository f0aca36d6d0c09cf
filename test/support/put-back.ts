// Data folders that a test restores at the same path, which a start would refuse by the birth time of the
// database.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Makes the next start believe that the folder is the one that was served last. */
export function forgetBirth(dataDir: string): void {
  const path = join(dataDir, 'serve.home')
  if (existsSync(path)) writeFileSync(path, readFileSync(path, 'utf8').replace(/^born \d+\n/m, ''))
}
