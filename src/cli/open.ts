// `oncebox open`: shows the server in the browser. A double click and the entry of a desktop's menu run it.

import type { Command } from 'commander'
import type { Serving } from '../app/serving.ts'
import { isDomainError } from '../domain/errors.ts'
import { type Config, settings } from '../settings/table.ts'
import type { App } from './app.ts'
import { FILE_MS, openerOf } from './browser.ts'
import { getConfig } from './config.ts'
import { CommandFailure } from './failures.ts'
import { addSettingFlags } from './flags.ts'
import { serveFor } from './serve.ts'
import type { Shell } from './shell.ts'

type Parts = { shell: Shell; app: App }

const HELP = `
On Windows and macOS, "oncebox" without arguments does the same, so that a double
click on the file is enough. The server runs until its window is closed, the person
signs out, or "oncebox open --stop".`

export function addOpenCommand(program: Command, { shell, app }: Parts): void {
  const command = program
    .command('open')
    .usage('[flags]')
    .summary('show the server in the browser; start it if none runs')
    .description('Shows the server of this data folder in the browser. Starts it if none runs.')
    .option('--stop', 'Stop the server of this data folder')
    .addHelpText('after', HELP)
  addSettingFlags(command, settings)
  command.action(async (options: { stop?: true }) => {
    const { config } = getConfig(command, shell)
    const serving = app.findServing(config.dataDir)
    if (options.stop) return stop(serving, { config, shell })
    if (serving !== null) return show(serving, { config, shell })
    // A service of this machine may run on another data folder, which this user may not read.
    const url = await app.findServerOn(config.port)
    if (url !== null) return show({ url, socket: null, setupLink: null }, { config, shell })
    await serveFor(command, { shell, app, isOpened: true }).catch((cause) => {
      // Another server may have started at the same moment.
      const other = isDomainError(cause, 'conflict') ? app.findServing(config.dataDir) : null
      if (other === null) throw cause
      return show(other, { config, shell })
    })
  })
}

type Shown = { config: Config; shell: Shell }

type Found = Pick<Serving, 'url' | 'socket' | 'setupLink'>

async function show({ url, socket, setupLink }: Found, { config, shell }: Shown): Promise<void> {
  if (socket !== null) {
    throw new CommandFailure(`The server of ${config.dataDir} listens on ${socket}, which no browser opens.`)
  }
  shell.print(`Open: ${url}`)
  if (config.noOpen) return
  if (setupLink === null || openerOf(shell.place) === null) {
    shell.openPage(url)
    return
  }
  const close = shell.openLink({ link: setupLink, dataDir: config.dataDir })
  // Keeps the file with the link for a browser that has to start first.
  await Bun.sleep(FILE_MS / 2)
  close()
}

function stop(serving: Serving | null, { config, shell }: Shown): void {
  const isStopped = serving !== null && shell.stopProcess(serving.pid)
  if (!isStopped) throw new CommandFailure(`No server runs on ${config.dataDir}.`)
}

/** Whether a start without arguments is most likely a double click: on Windows and macOS, except from a remote terminal. */
export function isStartedByClick({ place }: Shell): boolean {
  return (place.platform === 'win32' || place.platform === 'darwin') && openerOf(place) !== null
}

/** Keeps the window open on Windows, which closes it with all output when the program ends. */
export async function keepWindow({ place, isTerminal, ask }: Shell): Promise<void> {
  if (place.platform === 'win32' && isTerminal) await ask('Press Enter to close this window. ')
}
