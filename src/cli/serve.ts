// `oncebox serve`: starts the server, says when it is ready, and stops it on a signal.

import type { Command } from 'commander'
import type { RunningServer } from '../app.ts'
import { codeOf } from '../domain/system-errors.ts'
import type { Entry } from '../settings/fold.ts'
import { type Config, settings } from '../settings/table.ts'
import type { App } from './app.ts'
import { getConfig } from './config.ts'
import { CommandFailure, presentFailure } from './failures.ts'
import { addSettingFlags } from './flags.ts'
import { inJson, sayFailure, wantsJson } from './json-lines.ts'
import type { Shell } from './shell.ts'

const EXAMPLES = `
Examples:
  oncebox                        for this machine only: http://localhost:5100
  oncebox serve --host 0.0.0.0   for everyone on the network
  oncebox serve --base-url https://once.example --trusted-proxy 127.0.0.1
                                 behind a reverse proxy with TLS

A flag overrides its environment variable, and a variable overrides the default.
"oncebox config" shows the values in effect.

The first start prints a one-time link for creating the first account, or the
path of a file that holds it when standard output is no terminal. Later,
"oncebox user add EMAIL" adds accounts, even while the server runs.`

export function addServeCommand(program: Command, parts: { shell: Shell; app: App }): void {
  const { shell, app } = parts
  const command = program
    .command('serve', { isDefault: true })
    .usage('[flags]')
    .summary('start the server (what "oncebox" alone does)')
    .description('Starts the server. It stores everything in one data folder, which it creates if missing.')
    .addHelpText('after', EXAMPLES)
  addSettingFlags(command, settings)
  command.action(async () => {
    if (!wantsJson(command, shell)) return serve({ command, shell, app })
    await serve({ command, shell: inJson(shell), app }).catch((cause) => {
      throw sayFailure(shell, cause)
    })
  })
}

async function serve(parts: { command: Command; shell: Shell; app: App }): Promise<void> {
  const { command, shell, app } = parts
  const { config, entries } = getConfig(command, shell)
  const signals = listenForSignals(shell)
  const ports = { now: shell.now, writeLog: shell.sayLater, network: shell.network }
  const served = { config, settings: entries.map(presentSetting) }
  let server: RunningServer | null = null
  shell.onCrash((cause) => {
    for (const line of presentFailure(cause).lines) shell.say(line)
    server?.noteCrash(cause)
    shell.exitNow(1)
  })
  server = await app.startServer(served, ports).catch((cause) => explainStart(cause, config))
  signals.onReload(server.reload)
  // One line for programs that wait for it; on a terminal the link gets its own line.
  shell.print(readyText({ server, app, shell }).join(shell.isOutputTerminal ? '\n' : '. '))
  const stopped = signals.stopAsked.then(() => server.stop())
  const failure = await Promise.race([stopped, server.failed])
  if (failure) throw new CommandFailure(failure.message)
}

/** `stopAsked` resolves at the first wish to stop; the second ends the process at once. */
function listenForSignals(shell: Shell) {
  const { promise: stopAsked, resolve: stop } = Promise.withResolvers<void>()
  let wishes = 0
  let isReloadAsked = false
  let reload: (() => void) | null = null
  shell.onSignal((wish) => {
    if (wish === 'reload') {
      isReloadAsked = true
      return reload?.()
    }
    wishes += 1
    if (wishes > 1) shell.exitNow(130)
    stop()
  })
  /** A wish from during the start is granted at once. */
  const onReload = (listener: () => void) => {
    reload = listener
    if (isReloadAsked) listener()
  }
  return { stopAsked, onReload }
}

/** Bun asks "Is port 5100 in use?" for every failure. This names the cause and a remedy. */
function explainStart(cause: unknown, { host, port }: Config): never {
  const isListening = cause instanceof Error && 'syscall' in cause && cause.syscall === 'listen'
  const code = isListening ? codeOf(cause) : null
  const address = isListening && 'address' in cause ? String(cause.address) : host
  switch (code) {
    case 'EADDRINUSE':
      throw new CommandFailure(
        `Port ${port} on ${address} is in use: stop what uses it, or choose another --port.`,
      )
    case 'EACCES':
      throw new CommandFailure(
        `Listening on port ${port} of ${address} is not permitted: choose a --port from 1024 on.`,
      )
    case 'EADDRNOTAVAIL':
    case 'EINVAL':
      throw new CommandFailure(
        address === host || host.toLowerCase() === 'localhost'
          ? `${address} is not an address of this machine: choose another --host.`
          : `${host} is ${address}, which is not an address of this machine: choose another --host.`,
      )
    case 'EAFNOSUPPORT':
      throw new CommandFailure(
        `This process may not use ${address}, which others on this machine may: allow it (AF_INET6 in a systemd unit), ` +
          'or listen on one address alone, such as --host 127.0.0.1.',
      )
    default:
      throw cause
  }
}

/** The form in which administrators see it on the pages. */
function presentSetting({ setting: { flag, help }, text, from }: Entry) {
  return { flag, value: text, from, help }
}

/** The ready line and, while there is no administrator, where the link for creating the first one is. */
function readyText({ server, app, shell }: { server: RunningServer; app: App; shell: Shell }): string[] {
  const { url, baseUrl, dataDir, setupPath } = server
  const links = baseUrl === null ? '' : `, links start with ${baseUrl}`
  const ready = `Oncebox ${app.version} is ready on ${url} (data in ${dataDir})${links}`
  if (setupPath === null) return [ready]
  const { link, elsewhere } = setupLink({ ...server, setupPath })
  if (shell.isOutputTerminal)
    return [ready, `There is no administrator yet; this makes one, once: ${link}${elsewhere}`]
  const path = server.keepSetupLink(`${link}${elsewhere}`)
  const way =
    path === null
      ? '"oncebox user add EMAIL --admin" makes one'
      : `the link that makes one, once, is in ${path}`
  return [ready, `There is no administrator yet; ${way}`]
}

function setupLink({ url, hereUrl, baseUrl, setupPath }: RunningServer & { setupPath: string }) {
  // Browsers cannot open the wildcard address.
  const { hostname } = new URL(hereUrl)
  const isAnywhere = hereUrl !== url && baseUrl === null
  return {
    link: `${baseUrl ?? hereUrl}${setupPath}`,
    elsewhere: isAnywhere ? ` (elsewhere with this machine's address instead of ${hostname})` : '',
  }
}
