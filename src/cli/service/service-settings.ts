// The settings of the installed service, for commands on its data that are run beside it.

import type { Place } from '../../settings/parsers.ts'
import type { GivenFlags } from '../../settings/setting.ts'
import { variableOf } from '../../settings/setting.ts'
import { settings } from '../../settings/table.ts'
import type { Shell } from '../shell.ts'

const VARIABLES = [settings.dataDir, settings.databaseUrl]
  .map(variableOf)
  .flatMap((name) => [name, `${name}_FILE`])

/**
 * The place with the variables of the installed service, for commands on its data. When a flag or variable names a data
 * folder or a database, ignores the service entirely, because its key file would belong to another one.
 */
export function placeWithService(shell: Shell, flags: GivenFlags): Place {
  const { place } = shell
  const isNamed = ['data-dir', 'database-url'].some((flag) => flags[flag] !== undefined)
  if (isNamed || VARIABLES.some((name) => place.env[name])) return place
  const service = shell.findService()
  if (service === null) return place
  shell.say(
    `Using the settings of the installed service: ${service.envFile ?? service.definition} (--data-dir names another folder)`,
  )
  return { ...place, env: { ...service.variables, ...place.env } }
}
