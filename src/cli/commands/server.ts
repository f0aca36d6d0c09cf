// Commands on the server of a data folder.

import { nameOf } from '../../settings/setting.ts'
import { settings } from '../../settings/table.ts'
import { command, toggle, valued } from '../command.ts'
import { anyPath } from '../paths.ts'

const HEALTH =
  'Asks the server of this data folder whether process and database are alive, as /up does. Ends with 0 if so, and with 1 if not. ' +
  'Without --data-dir, root or an administrator asks the installed service.'

const SERVE_EXAMPLES = `  oncebox                        for this machine only: http://localhost:5100
  oncebox serve --host 0.0.0.0   for everyone on the network
  oncebox serve --lan            the same as https://oncebox.local:5100
  oncebox serve --base-url https://once.example --trusted-proxy 127.0.0.1
                                 behind a reverse proxy with TLS

A flag overrides its environment variable, and a variable overrides the default.
"oncebox config" shows the values in effect.

The first start prints a one-time link for creating the first account, and opens
it in the browser of a desktop (--no-open does not). When standard output is no
terminal, it prints the path of a file with the link instead. Later, "oncebox
user add EMAIL" adds accounts, even while the server runs.`

const OPEN_NOTES = `
On Windows and macOS, "oncebox" without arguments does the same, so that a double
click on the file is enough. The server runs until its window is closed, the person
signs out, or "oncebox open --stop".`

/** For service managers that cannot read files of variables, and to show the settings of a service. */
const envFile = valued(
  'env-file <file>',
  'File of settings as variables, a line each, such as ONCEBOX_PORT=8080; variables that are set win',
  anyPath,
)

export const SERVER = [
  command({
    name: 'serve',
    summary: 'start the server (what "oncebox" alone does)',
    help: 'Starts the server. It stores everything in one data folder, which it creates if missing.',
    examples: SERVE_EXAMPLES,
    flags: { envFile },
    settings,
    isServer: true,
    act: async (given) => (await import('../serve.ts')).serve(given, { isOpened: false }),
  }),
  command({
    name: 'open',
    summary: 'show the server in the browser; start it if none runs',
    help: 'Shows the server of this data folder in the browser. Starts it if none runs.',
    notes: OPEN_NOTES,
    flags: { stop: toggle('stop', 'Stop the server of this data folder') },
    settings,
    isServer: true,
    act: async (given) => (await import('../open.ts')).open(given),
  }),
  command({
    name: 'health',
    summary: 'tell whether the server is alive',
    help: HEALTH,
    settings,
    isOnData: true,
    act: async (given) => (await import('../open.ts')).tellHealth(given),
  }),
  command({
    name: 'config',
    summary: 'show the settings that serve would use, and where each comes from',
    help: 'Shows the settings that "oncebox serve" would use with the same flags, and where each comes from.',
    examples: '  ONCEBOX_PORT=8080 oncebox config --base-url https://once.example',
    flags: { envFile },
    settings,
    act: async ({ entries, shell }) => {
      const { alignColumns } = await import('../table.ts')
      const rows = entries.map(({ setting, text, from }) => [nameOf(setting), text, from])
      for (const line of alignColumns(['SETTING', 'VALUE', 'FROM'], rows)) shell.print(line)
    },
  }),
]
