// Commands on the server of a data folder.

import { nameOf } from '../../settings/setting.ts'
import { settings } from '../../settings/table.ts'
import { command, toggle, valued } from '../command.ts'
import { anyPath } from '../paths.ts'
import { alignColumns } from '../table.ts'

/** For service managers that cannot read files of variables, and to show the settings of a service. */
const envFile = valued('env-file <file>', anyPath)

export const SERVER = [
  command({
    name: 'serve',
    flags: { envFile },
    settings,
    isServer: true,
    act: async (given) => (await import('../serve.ts')).serve(given, { isOpened: false }),
  }),
  command({
    name: 'open',
    flags: { stop: toggle('stop') },
    settings,
    isServer: true,
    act: async (given) => (await import('../open.ts')).open(given),
  }),
  command({
    name: 'health',
    settings,
    isOnData: true,
    act: async (given) => (await import('../open.ts')).tellHealth(given),
  }),
  command({
    name: 'config',
    flags: { envFile },
    settings,
    act: ({ entries, shell }) => {
      const rows = entries.map(({ setting, text, from }) => [nameOf(setting), text, from])
      shell.print(...alignColumns(['SETTING', 'VALUE', 'FROM'], ...rows))
    },
  }),
]
