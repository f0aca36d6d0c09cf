// The settings of the installed service, for commands on its data that are run beside it.

import type { GivenFlags } from '../../settings/fold.ts'
import type { Place } from '../../settings/parsers.ts'
import type { Shell } from '../shell.ts'

/**
 * The place with the variables of the installed service, for commands on its data. When a flag or variable names a data
 * folder, ignores the service entirely, because its key file would belong to another folder.
 */
export function placeWithService(shell: Shell, flags: GivenFlags): Place {
  const { place } = shell
  const { ONCEBOX_DATA_DIR, ONCEBOX_DATA_DIR_FILE } = place.env
  if (flags['data-dir'] !== undefined || ONCEBOX_DATA_DIR || ONCEBOX_DATA_DIR_FILE) return place
  const service = shell.findService()
  if (service === null) return place
  shell.say(
    `Using the settings of the installed service: ${service.envFile ?? service.definition} (--data-dir names another folder)`,
  )
  return { ...place, env: { ...service.variables, ...place.env } }
}
