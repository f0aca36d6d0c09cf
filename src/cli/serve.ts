// `oncebox serve`: starts the server, prints its addresses when it is ready, and stops it on a signal.

import { version } from '../../package.json'
import { explainListening } from '../app/listen-failures.ts'
import type { RunningServer } from '../app.ts'
import { codeOf } from '../domain/system-errors.ts'
import type { SettingEntry } from '../settings/fold.ts'
import type { Config } from '../settings/table.ts'
import type { CommandInput } from './command.ts'
import { CommandFailure, presentFailure } from './failures.ts'
import { drawQr } from './qr.ts'
import type { Shell } from './shell.ts'

type ServeOptions = {
  /** Opens the browser even if there is no setup link to show. */
  isOpened: boolean
}

/** Runs the server until a signal stops it. */
export async function serve(given: CommandInput<unknown, Config>, { isOpened }: ServeOptions): Promise<void> {
  const { config, entries, shell, app } = given
  const signals = listenForSignals(shell)
  const { now, uptime, network, os, self } = shell
  const abandoned = new AbortController()
  void signals.stopAsked.then(() => abandoned.abort())
  const ports = {
    ...{ now, uptime, network, self, env: os.env, writeLog: shell.sayLater },
    abandoned: abandoned.signal,
  }
  let server: RunningServer | null = null
  shell.onCrash((cause) => {
    shell.say(...presentFailure(cause).lines)
    server?.noteCrash(cause)
    shell.exitNow(1)
  })
  server = await app
    .startServer({ config, settings: presentSettings(entries) }, ports)
    .catch((cause) => explainStart(cause, { config, shell }))
  signals.onReload(server.reload)
  const links = setupLinks(server)
  const setup = setupOf(server, links, shell)
  // Write all lines at once, so that a program that waits for the address can read them together.
  if (config.logFormat === 'json') shell.printExactly(`${readyJson(server, setup, now())}\n`)
  else shell.print(readyLines(server, setup).join('\n'))
  if (config.logFormat !== 'json' && server.trust !== null && shell.isOutputTerminal)
    shell.draw(drawQr(server.trust.pages[0] ?? ''))
  const [link] = isOpened || (setup !== null && 'link' in setup) ? links : []
  const isShown = !config.noOpen && (link !== undefined || isOpened)
  const closeBrowser = isShown ? openBrowser(link, server, shell) : () => undefined
  const stopped = signals.stopAsked.then(() => server.stop())
  const failure = await Promise.race([stopped, server.failed]).finally(closeBrowser)
  if (failure) throw new CommandFailure(failure.message)
}

/**
 * Opens the browser with the setup link, or else with the server's address. Returns a function that removes
 * the file with the link.
 */
function openBrowser(link: string | undefined, { dataDir, hereUrl }: RunningServer, shell: Shell) {
  if (link !== undefined) return shell.openLink({ link, dataDir })
  shell.openPage(hereUrl)
  return () => undefined
}

/**
 * Listens for signals. `stopAsked` resolves at the first signal to stop; the second one ends the process at
 * once.
 */
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
  /** Sets the listener for reloads. Calls it at once if a reload was requested during the start. */
  const onReload = (listener: () => void) => {
    reload = listener
    if (isReloadAsked) listener()
  }
  return { stopAsked, onReload }
}

/** Formats the settings for the administrators' pages. */
function presentSettings(entries: readonly SettingEntry[]) {
  return entries
    .filter(({ setting }) => !setting.variableOnly)
    .map(({ setting: { flag, help }, text, from }) => ({ flag, value: text, from, help }))
}

/**
 * Returns links to create the first administrator, the one for this computer first. Empty if there is an
 * administrator.
 */
function setupLinks({ baseUrl, hereUrl, elsewhere, setupPath }: RunningServer): string[] {
  if (setupPath === null) return []
  const starts = baseUrl === null ? [...new Set([hereUrl, ...elsewhere])] : [baseUrl]
  return starts.map((start) => `${start}${setupPath}`)
}

/** How to create the first administrator: a link, a file with the link, or a command. Null if one exists. */
type Setup = { link: string } | { file: string } | { command: string } | null

/** Shows the link only on a terminal, because others may read the journal. */
function setupOf(server: RunningServer, links: readonly string[], shell: Shell): Setup {
  const [link] = links
  if (link === undefined) return null
  if (shell.isOutputTerminal) return { link }
  const file = server.keepSetupLink(links.join('\n'))
  return file === null ? { command: 'oncebox user add EMAIL --admin' } : { file }
}

function presentSetup(setup: NonNullable<Setup>): string {
  if ('link' in setup) return `${setup.link} (works once)`
  return 'file' in setup ? `the link is in ${setup.file} (works once)` : `"${setup.command}"`
}

/**
 * Formats the facts for people, one per line. The first address is the one that the server listens on,
 * spelled as in `--host`.
 */
function readyLines(server: RunningServer, setup: Setup): string[] {
  const { url, hereUrl, baseUrl, dataDir, database, trust } = server
  const here = hereUrl === url ? '' : ` (on this computer: ${hereUrl})`
  const lines: [string, string | null][] = [
    ['Open:', `${url}${here}${baseUrl === null ? '' : `, links start with ${baseUrl}`}`],
    ['From other computers:', fromElsewhere(server)],
    ['Make the administrator:', setup && presentSetup(setup)],
    ['Database:', database],
    ['Data:', dataDir],
    ['Trust it, once each:', trust && `${trust.pages[0]} (or "oncebox trust" there)`],
    ['Compare fingerprint:', trust?.fingerprint ?? null],
  ]
  return lines.flatMap(([label, text]) => (text === null ? [] : `${label.padEnd(LABEL_WIDTH)} ${text}`))
}

const LABEL_WIDTH = 'Make the administrator:'.length

function fromElsewhere({ url, hereUrl, baseUrl, elsewhere }: RunningServer): string {
  if (baseUrl !== null) return baseUrl
  if (elsewhere.length > 0) return elsewhere.join(' or ')
  if (url === hereUrl) return 'not yet; "oncebox serve --host 0.0.0.0" serves the whole network'
  return 'this computer has no network address at the moment'
}

/** Formats the same facts as one line of JSON, in the form of the log. */
function readyJson(server: RunningServer, setup: Setup, now: number): string {
  const { url, hereUrl, elsewhere, baseUrl, dataDir, database, trust } = server
  return JSON.stringify({
    ...{ level: 'info', time: new Date(now).toISOString(), version },
    ...{ url, here: hereUrl, elsewhere, baseUrl, setup, dataDir, database: database ?? undefined, trust },
    msg: `Oncebox ${version} is ready on ${url}`,
  })
}

/**
 * Rethrows a failed start with its cause and remedy, because Bun asks "Is port 5100 in use?" for every
 * failure to listen.
 */
function explainStart(cause: unknown, { config, shell }: { config: Config; shell: Shell }): never {
  if (!(cause instanceof Error) || !('syscall' in cause)) throw cause
  // The system's error for a failed write names no path: add the data folder.
  if (cause.syscall === 'write' && !('path' in cause)) throw Object.assign(cause, { path: config.dataDir })
  if (cause.syscall !== 'listen') throw cause
  const address = 'address' in cause ? String(cause.address) : config.host
  const port = 'port' in cause ? Number(cause.port) : config.port
  const usual = port !== config.port && port === config.httpPort ? 'http-port' : 'port'
  const flag = 'flag' in cause ? String(cause.flag) : `--${usual}`
  const host = 'flag' in cause ? address : config.host
  const { os, self } = shell
  const refused = { address, port, host, flag, platform: os.platform, program: self[0] ?? 'oncebox' }
  const why = explainListening(codeOf(cause), refused)
  throw why === null ? cause : new CommandFailure(why)
}
