// Finds the service that `oncebox service install` set up on this machine, and the settings that it runs
// with.

import { readFileSync } from 'node:fs'
import type { OperatingSystem } from '../settings/parsers.ts'
import { parseEnvFile, type Variables } from './env-file.ts'
import { placesFor } from './places.ts'
import type { Scope } from './service-system.ts'
import { isOwnUnit } from './systemd.ts'

export type InstalledService = {
  scope: Scope
  definition: string
  envFile: string
  variables: Variables
  /** A sentence for each line of the file of settings that has no effect. */
  problems: string[]
}

/**
 * Finds the service whose data this user may open: the machine's service for root or an administrator, else
 * the user's own. Returns null if there is none, or if its settings cannot be read.
 */
export function findService(os: OperatingSystem): InstalledService | null {
  const isRoot = process.geteuid?.() === 0
  if (os.platform === 'win32') return findIn('machine', os) ?? findIn('user', os)
  return findIn(isRoot ? 'machine' : 'user', os)
}

/**
 * Finds the service of one scope. Returns null for a unit that the operator wrote, which may run with any
 * settings, and when this user cannot read the settings.
 */
export function findIn(scope: Scope, os: OperatingSystem): InstalledService | null {
  const { definition, envFile, dataDir } = placesFor(scope, { os, self: '' })
  try {
    const text = readFileSync(definition, 'utf8')
    if (os.platform === 'linux' && !isOwnUnit(text)) return null
    const { variables, problems } = parseEnvFile(readFileSync(envFile, 'utf8'))
    return {
      ...{ scope, definition, envFile },
      variables: { ONCEBOX_DATA_DIR: dataDir, ...variables },
      problems: problems.map((problem) => `${envFile}: ${problem}`),
    }
  } catch {
    return null
  }
}
