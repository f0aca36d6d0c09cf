// Commands about the server of a data folder: serve, open, health, config.

import { nameOf } from '../../settings/setting.ts'
import { settings } from '../../settings/table.ts'
import { command, some, toggle } from '../command.ts'
import { alignColumns } from '../table.ts'

export const SERVER = [
  command({
    name: 'serve',
    settings,
    isServer: true,
    act: async (given) => (await import('../serve.ts')).serve(given, { isOpened: false }),
  }),
  command({
    name: 'open',
    flags: { stop: toggle('stop') },
    settings,
    helpedGroup: settings.dataDir.group,
    isServer: true,
    act: async (given) => (await import('../open.ts')).open(given),
  }),
  command({
    name: 'health',
    settings: some('dataDir'),
    isOnData: true,
    act: async (given) => (await import('../open.ts')).tellHealth(given),
  }),
  command({
    name: 'config',
    settings,
    act: async ({ entries, shell }) => {
      const rows = entries.map(({ setting, text, from }) => [nameOf(setting), text, from])
      shell.print(...alignColumns(['SETTING', 'VALUE', 'FROM'], ...rows))
      const { findKeysProblem } = await import('../../install/release-keys.ts')
      const keysProblem = findKeysProblem()
      if (keysProblem !== null) shell.say(keysProblem)
    },
  }),
]
