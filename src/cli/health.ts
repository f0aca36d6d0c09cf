// `oncebox health`: whether the server of this data folder is alive, for programs that run containers.

import type { Command } from 'commander'
import { settings } from '../settings/table.ts'
import type { App } from './app.ts'
import { getConfig } from './config.ts'
import { CommandFailure } from './failures.ts'
import { addSettingFlags } from './flags.ts'
import type { Shell } from './shell.ts'

export function addHealthCommand(program: Command, { shell, app }: { shell: Shell; app: App }): void {
  const command = program
    .command('health')
    .usage('[flags]')
    .summary('tell whether the server is alive')
    .description(
      'Asks the server of this data folder whether process and database are alive, as /up does. Ends with 0 if so, and with 1 if not.',
    )
  addSettingFlags(command, settings)
  command.action(async () => {
    const { dataDir } = getConfig(command, shell).config
    const serving = app.findServing(dataDir)
    if (serving === null) throw new CommandFailure(`No server runs on ${dataDir}.`)
    if (!(await serving.isUp())) throw new CommandFailure(`The server on ${dataDir} does not answer.`)
    shell.print('ok')
  })
}
