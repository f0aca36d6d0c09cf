// Commands on the server of a data folder.

import { nameOf } from '../../settings/setting.ts'
import { settings } from '../../settings/table.ts'
import { command, toggle, valued } from '../command.ts'
import { anyPath } from '../paths.ts'
import { alignColumns } from '../table.ts'

/** For service managers that cannot read files of variables, and to show the settings of a service. */
const envFile = valued(
  'env-file <file>',
  'File of settings as variables, a line each, such as ONCEBOX_PORT=8080; variables that are set win',
  anyPath,
)

export const SERVER = [
  command({
    name: 'serve',
    help: 'Starts the server, as "oncebox" alone does. It stores everything in one data folder, which it creates if missing.',
    examples: `  oncebox                        for this machine only: http://localhost:5100
  oncebox serve --host 0.0.0.0   for everyone on the network
  oncebox serve --lan            the same as https://oncebox.local:5100
  oncebox serve --base-url https://once.example --trusted-proxy 127.0.0.1
                                 behind a reverse proxy with TLS

A flag overrides its environment variable, and a variable overrides the default.
"oncebox config" shows the values in effect.

The first start prints a one-time link for creating the first account, and opens
it in the browser of a desktop (--no-open does not). When standard output is no
terminal, it prints the path of a file with the link instead. Later, "oncebox
user add EMAIL" adds accounts, even while the server runs.`,
    flags: { envFile },
    settings,
    isServer: true,
    act: async (given) => (await import('../serve.ts')).serve(given, { isOpened: false }),
  }),
  command({
    name: 'open',
    help:
      'Shows the server in the browser; starts it if none runs. It is the server of this data folder. ' +
      'On Windows and macOS, "oncebox" without arguments does the same, so that a double click on the file is enough. The server ' +
      'runs until its window is closed, the person signs out, or "oncebox open --stop".',
    flags: { stop: toggle('stop', 'Stop the server of this data folder') },
    settings,
    isServer: true,
    act: async (given) => (await import('../open.ts')).open(given),
  }),
  command({
    name: 'health',
    help:
      'Tells whether the server is alive. ' +
      'Asks the server of this data folder whether process and database are alive, as /up does. Ends with 0 if so, and with 1 if not. ' +
      'Without --data-dir, root or an administrator asks the installed service.',
    settings,
    isOnData: true,
    act: async (given) => (await import('../open.ts')).tellHealth(given),
  }),
  command({
    name: 'config',
    help: 'Shows the settings that serve would use, and where each comes from. Give it the same flags and variables.',
    examples: '  ONCEBOX_PORT=8080 oncebox config --base-url https://once.example',
    flags: { envFile },
    settings,
    act: ({ entries, shell }) => {
      const rows = entries.map(({ setting, text, from }) => [nameOf(setting), text, from])
      shell.print(...alignColumns(['SETTING', 'VALUE', 'FROM'], ...rows))
    },
  }),
]
