// `oncebox open` opens the server of a data folder in the browser; `oncebox health` checks that it answers.

import { existsSync } from 'node:fs'
import type { LocalServer } from '../app/serving.ts'
import { isDomainError } from '../domain/errors.ts'
import { placesFor } from '../install/places.ts'
import type { Config } from '../settings/table.ts'
import { FILE_MS, openerOf } from './browser.ts'
import type { CommandInput } from './command.ts'
import { CommandFailure } from './failures.ts'
import { serve } from './serve.ts'
import type { Shell } from './shell.ts'

/** Opens the running server, or starts one. A double click and the desktop's menu run this. */
export async function open(given: CommandInput<{ stop: boolean }, Config>): Promise<void> {
  const { config, shell, app, flags } = given
  const serving = await app.findServing(config.dataDir)
  if (flags.stop) return stop(serving, { config, shell })
  if (serving !== null) return show(serving, { config, shell })
  // A service of this machine may run on a data folder that this user cannot read.
  const url = await app.findServerOn(config.port)
  if (url !== null) return show({ url, socket: null, setupLink: null }, { config, shell })
  await serve(given, { isOpened: true }).catch(async (cause) => {
    // Another server may have started at the same time.
    const other = isDomainError(cause, 'conflict') ? await app.findServing(config.dataDir) : null
    if (other === null) throw cause
    return show(other, { config, shell })
  })
}

type OpenContext = { config: Config; shell: Shell }

type ServerToShow = Pick<LocalServer, 'url' | 'socket' | 'setupLink'>

async function show({ url, socket, setupLink }: ServerToShow, { config, shell }: OpenContext): Promise<void> {
  if (socket !== null) {
    throw new CommandFailure(
      `The server of ${config.dataDir} listens on ${socket}, which no browser can open.`,
    )
  }
  shell.print(`Open: ${url}`)
  if (config.noOpen) return
  if (setupLink === null || openerOf(shell.os) === null) {
    shell.openPage(url)
    return
  }
  const close = shell.openLink({ link: setupLink, dataDir: config.dataDir })
  // Keep the file with the link while a browser starts.
  await Bun.sleep(FILE_MS / 2)
  close()
}

function stop(serving: LocalServer | null, { config, shell }: OpenContext): void {
  const isStopped = serving !== null && shell.stopProcess(serving.pid)
  if (!isStopped) throw new CommandFailure(`No server runs on ${config.dataDir}.`)
}

export async function tellHealth(input: CommandInput<unknown, Pick<Config, 'dataDir'>>): Promise<void> {
  const { config, shell, app } = input
  const serving = await app.findServing(config.dataDir)
  if (serving === null) throw new CommandFailure(`No server runs on ${config.dataDir}.${hintOf(shell)}`)
  if (!(await serving.isUp())) throw new CommandFailure(`The server on ${config.dataDir} does not answer.`)
  shell.print('ok')
}

/** Hints at root for a user who cannot read the settings of the machine's service. */
function hintOf({ os, findService }: Shell): string {
  const { definition } = placesFor('machine', { os, self: '' })
  if (findService() !== null || !existsSync(definition)) return ''
  return ` To ask the service of this machine (${definition}), run this as root.`
}
