// `oncebox serve`: starts the server, says when it is ready, and stops it on a signal.

import { version } from '../../package.json'
import type { RunningServer } from '../app.ts'
import type { Entry } from '../settings/fold.ts'
import type { Config } from '../settings/table.ts'
import type { Given } from './command.ts'
import { CommandFailure, presentFailure } from './failures.ts'
import { explainStart } from './listen-failures.ts'
import { drawQr } from './qr.ts'
import type { Shell } from './shell.ts'

type Opening = {
  /** Whether the browser shows the server in any case, not only the link that makes the administrator. */
  isOpened: boolean
}

/** Serves until it is asked to stop. */
export async function serve(given: Given<unknown, Config>, { isOpened }: Opening): Promise<void> {
  const { config, entries, shell, app } = given
  const signals = listenForSignals(shell)
  const { now, uptime, network, place, self } = shell
  const abandoned = new AbortController()
  void signals.stopAsked.then(() => abandoned.abort())
  const ports = {
    ...{ now, uptime, network, self, env: place.env, writeLog: shell.sayLater },
    abandoned: abandoned.signal,
  }
  const served = {
    config,
    settings: entries.filter(({ setting }) => !setting.variableOnly).map(presentSetting),
  }
  let server: RunningServer | null = null
  shell.onCrash((cause) => {
    for (const line of presentFailure(cause).lines) shell.say(line)
    server?.noteCrash(cause)
    shell.exitNow(1)
  })
  server = await app.startServer(served, ports).catch((cause) => explainStart(cause, { config, shell }))
  signals.onReload(server.reload)
  const setup = setupOf(server, shell)
  tellReady({ ...server, setup }, { config, shell })
  const closeBrowser = openBrowser({ setup, server, config, shell, isOpened })
  const stopped = signals.stopAsked.then(() => server.stop())
  const failure = await Promise.race([stopped, server.failed]).finally(closeBrowser)
  if (failure) throw new CommandFailure(failure.message)
}

/** One write, so that a program that waits for the address reads all lines at once. */
function tellReady(ready: Ready, { config, shell }: { config: Config; shell: Shell }): void {
  if (config.logFormat === 'json') {
    shell.printExactly(`${readyJson(ready, { version, now: shell.now })}\n`)
    return
  }
  shell.print(readyLines(ready).join('\n'))
  if (ready.trust !== null && shell.isOutputTerminal) shell.draw(drawQr(ready.trust.pages[0] ?? ''))
}

/** How the first administrator is made. Only a terminal shows the link, because others may read the journal. */
function setupOf(server: RunningServer, shell: Shell): Setup | null {
  const links = setupLinks(server)
  const [link] = links
  if (link === undefined) return null
  if (shell.isOutputTerminal) return { link }
  const file = server.keepSetupLink(links.join('\n'))
  return file === null ? { command: 'oncebox user add EMAIL --admin' } : { file }
}

type Opened = {
  setup: Setup | null
  server: RunningServer
  config: Pick<Config, 'noOpen'>
  shell: Shell
  isOpened: boolean
}

/** Shows the person at this desktop the page that makes the administrator. Returns what removes the file for it. */
function openBrowser({ setup, server, config, shell, isOpened }: Opened): () => void {
  const { dataDir, hereUrl } = server
  const nothing = () => undefined
  if (config.noOpen) return nothing
  const [link] = isOpened || (setup !== null && 'link' in setup) ? setupLinks(server) : []
  if (link !== undefined) return shell.openLink({ link, dataDir })
  if (isOpened) shell.openPage(hereUrl)
  return nothing
}

/** `stopAsked` resolves at the first signal to stop. The second one ends the process at once. */
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
  /** Calls `listener` at once if a reload was asked for during the start. */
  const onReload = (listener: () => void) => {
    reload = listener
    if (isReloadAsked) listener()
  }
  return { stopAsked, onReload }
}

/** A setting as administrators see it on the pages. */
function presentSetting({ setting: { flag, help }, text, from }: Entry) {
  return { flag, value: text, from, help }
}

/** How the first administrator is made: by a link, one in a file, or a command. */
export type Setup = { link: string } | { file: string } | { command: string }

export type Ready = Pick<
  RunningServer,
  'url' | 'hereUrl' | 'elsewhere' | 'baseUrl' | 'dataDir' | 'database' | 'trust'
> & {
  /** Null when there is an administrator. */
  setup: Setup | null
}

/** The links that make the first administrator, the one for this computer first; none when there is one already. */
export function setupLinks({ baseUrl, hereUrl, elsewhere, setupPath }: RunningServer): string[] {
  if (setupPath === null) return []
  const starts = baseUrl === null ? [...new Set([hereUrl, ...elsewhere])] : [baseUrl]
  return starts.map((start) => `${start}${setupPath}`)
}

/** A line for each thing, for people. The first address is the one that the server listens on, as `--host` spells it. */
function readyLines(ready: Ready): string[] {
  const { url, hereUrl, baseUrl, dataDir, database, setup, trust } = ready
  const here = hereUrl === url ? '' : ` (on this computer: ${hereUrl})`
  const links = baseUrl === null ? '' : `, links start with ${baseUrl}`
  const lines = [
    ['Open:', `${url}${here}${links}`],
    ['From other computers:', fromElsewhere(ready)],
    ...(setup === null ? [] : [['Make the administrator:', presentSetup(setup)]]),
    ...(database === null ? [] : [['Database:', database]]),
    ['Data:', dataDir],
    ...(trust === null ? [] : presentTrust(trust)),
  ]
  return lines.map(([label = '', text]) => `${label.padEnd(LABEL_WIDTH)} ${text}`)
}

const LABEL_WIDTH = 'Make the administrator:'.length

function fromElsewhere({ url, hereUrl, baseUrl, elsewhere }: Ready): string {
  if (baseUrl !== null) return baseUrl
  if (elsewhere.length > 0) return elsewhere.join(' or ')
  if (url === hereUrl) return 'not yet; "oncebox serve --host 0.0.0.0" serves the whole network'
  return 'this computer has no network address at the moment'
}

function presentTrust({ fingerprint, pages }: NonNullable<Ready['trust']>): string[][] {
  return [
    ['Trust it, once each:', `${pages[0]} (or "oncebox trust" there)`],
    ['Compare fingerprint:', fingerprint],
  ]
}

function presentSetup(setup: Setup): string {
  if ('link' in setup) return `${setup.link} (works once)`
  return 'file' in setup ? `the link is in ${setup.file} (works once)` : `"${setup.command}"`
}

/** The same as one line of JSON, in the form of the log. */
function readyJson(ready: Ready, { version, now }: { version: string; now: () => number }): string {
  const { url, hereUrl, elsewhere, baseUrl, dataDir, database, setup, trust } = ready
  return JSON.stringify({
    ...{ level: 'info', time: new Date(now()).toISOString(), version },
    ...{ url, here: hereUrl, elsewhere, baseUrl, setup, dataDir, database: database ?? undefined, trust },
    msg: `Oncebox ${version} is ready on ${url}`,
  })
}
