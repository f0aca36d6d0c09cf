// `oncebox serve`: starts the server, says when it is ready, and stops it on a signal.

import type { Command } from 'commander'
import type { RunningServer } from '../app.ts'
import { codeOf } from '../domain/system-errors.ts'
import type { Entry } from '../settings/fold.ts'
import { type Config, settings } from '../settings/table.ts'
import type { App } from './app.ts'
import { getConfig } from './config.ts'
import { CommandFailure } from './failures.ts'
import { addSettingFlags } from './flags.ts'
import type { Shell } from './shell.ts'

const EXAMPLES = `
Examples:
  oncebox                        for this machine only: http://localhost:5100
  oncebox serve --host 0.0.0.0   for everyone on the network
  oncebox serve --base-url https://once.example --trusted-proxy 127.0.0.1
                                 behind a reverse proxy with TLS

A flag overrides its environment variable, and a variable overrides the default.
"oncebox config" shows the values in effect.

The first start prints a one-time link for creating the first account. Later,
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
    const { config, entries } = getConfig(command, shell)
    const stopAsked = listenForStop(shell)
    const ports = { now: shell.now, writeLog: shell.sayLater, network: shell.network }
    const settingsInEffect = entries.map(presentSetting)
    const served = { config, settings: settingsInEffect }
    const server = await app.startServer(served, ports).catch((cause) => explainStart(cause, config))
    // One line for programs that wait for it; on a terminal the link gets its own line.
    shell.print(readyText(app.version, server).join(shell.isOutputTerminal ? '\n' : '. '))
    const stopped = stopAsked.then(() => server.stop())
    const failure = await Promise.race([stopped, server.failed])
    if (failure) throw new CommandFailure(failure.message)
  })
}

/** Resolves at the first signal; the second ends the process at once. */
function listenForStop(shell: Shell): Promise<void> {
  return new Promise((resolve) => {
    let asked = false
    shell.onStopSignal(() => {
      if (asked) shell.exitNow(130)
      asked = true
      resolve()
    })
  })
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

/** The ready line and, while there is no administrator, the link for creating the first one. */
function readyText(version: string, server: RunningServer): string[] {
  const { url, hereUrl, baseUrl, dataDir, setupPath } = server
  const links = baseUrl === null ? '' : `, links start with ${baseUrl}`
  const ready = `Oncebox ${version} is ready on ${url} (data in ${dataDir})${links}`
  if (setupPath === null) return [ready]
  // Browsers cannot open the wildcard address.
  const { hostname } = new URL(hereUrl)
  const elsewhere =
    hereUrl === url || baseUrl !== null
      ? ''
      : ` (elsewhere with this machine's address instead of ${hostname})`
  return [
    ready,
    `There is no administrator yet; this makes one, once: ${baseUrl ?? hereUrl}${setupPath}${elsewhere}`,
  ]
}
