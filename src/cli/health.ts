// `oncebox health`: whether the server of this data folder or the installed service is alive, for programs that know no HTTP.

import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { settings } from '../settings/table.ts'
import type { App } from './app.ts'
import { getConfig } from './config.ts'
import { CommandFailure } from './failures.ts'
import { addSettingFlags, givenFlags } from './flags.ts'
import { placesFor } from './service/places.ts'
import { placeWithService } from './service/service-settings.ts'
import type { Shell } from './shell.ts'

export function addHealthCommand(program: Command, { shell, app }: { shell: Shell; app: App }): void {
  const command = program
    .command('health')
    .usage('[flags]')
    .summary('tell whether the server is alive')
    .description(
      'Asks the server of this data folder whether process and database are alive, as /up does. Ends with 0 if so, and with 1 if not. ' +
        'Without --data-dir, root or an administrator asks the installed service.',
    )
  addSettingFlags(command, settings)
  command.action(async () => {
    const place = placeWithService(shell, givenFlags(command, settings))
    const { dataDir } = getConfig(command, { ...shell, place }).config
    const serving = app.findServing(dataDir)
    if (serving === null) throw new CommandFailure(`No server runs on ${dataDir}.${hintOf(shell)}`)
    if (!(await serving.isUp())) throw new CommandFailure(`The server on ${dataDir} does not answer.`)
    shell.print('ok')
  })
}

/** For a user who may not read the settings of the machine's service. */
function hintOf({ place, findService }: Shell): string {
  const { definition } = placesFor('machine', { place, self: '' })
  if (findService() !== null || !existsSync(definition)) return ''
  return ` To ask the service of this machine (${definition}), run this as root.`
}
