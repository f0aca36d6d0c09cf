// A command's access to the terminal, the environment, files and signals. No other file of this room touches
// them.

import { lookup } from 'node:dns/promises'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { getPriority, homedir, hostname, networkInterfaces, setPriority } from 'node:os'
import { isatty, ReadStream } from 'node:tty'
import { type Now, SECOND, type Uptime, wholeMilliseconds } from '../domain/time.ts'
import { findService } from '../install/installed.ts'
import type { Environment, OperatingSystem } from '../settings/parsers.ts'
import { printable } from '../text/printable.ts'
import { createOpenLink, createOpenPage } from './browser.ts'
import { createStartProgress } from './progress.ts'
import { gatherLines, writeOutput } from './standard-streams.ts'

export type Shell = ReturnType<typeof createShell>

function linesOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}

/** Whether this runs from files embedded in an executable, which have their own root. */
function isExecutable(): boolean {
  return /^(\/\$bunfs\/|[A-Z]:[/\\]~BUN[/\\])/.test(Bun.main)
}

/** `uptime`: seconds since the machine was started. */
export type Outside = { env: Environment; now: () => number; uptime: () => number; umask: number }

export function createShell(outside: Outside) {
  const { stdout, stderr } = process
  // Ignore a closed pipe (`oncebox user list | head -1`, a log collector).
  for (const stream of [stdout, stderr]) stream.on('error', () => undefined)
  let terminal: ReadStream | null = null
  const os: OperatingSystem = {
    env: outside.env,
    platform: process.platform,
    home: homedir(),
    cwd: process.cwd(),
  }
  const self: readonly string[] = isExecutable() ? [process.execPath] : [process.execPath, Bun.main]

  const say = (...lines: string[]): void => void stderr.write(printable(linesOf(lines)))

  /** Opens the terminal once, because a second reader would lose what the first one has buffered. */
  function input(): NodeJS.ReadableStream {
    if (isatty(0)) return process.stdin
    terminal = terminal ?? new ReadStream(openSync(TERMINAL, 'r'))
    return terminal
  }

  return {
    os,
    now: outside.now,
    uptime: createUptime({ seconds: outside.uptime, elapsed: () => performance.now() }),
    readFile: (path: string) => readFileSync(path, 'utf8'),
    /** Writes lines of the command's result to standard output. Makes them printable on a terminal. */
    print: (...lines: string[]): void => {
      const text = linesOf(lines)
      stdout.write(isatty(1) ? printable(text) : text)
    },
    /** Writes to standard output unchanged. */
    printExactly: (text: string): void => void stdout.write(text),
    writeBytes: writeOutput,
    /** Prints other messages to standard error, with unprintable characters escaped. */
    say,
    warn: (...warnings: string[]): void => say(...warnings.map((warning) => `oncebox: warning: ${warning}`)),
    /** Writes to standard error, with colours. */
    draw: (picture: string): void => void stderr.write(`${picture}\n`),
    /**
     * Like `say`, but may delay the lines until the end of this turn of the event loop. For the log of a busy
     * server.
     */
    sayLater: gatherLines((lines) => stderr.write(lines)),
    /** Streams standard input. */
    readInputBytes: (): AsyncIterable<Uint8Array> => Bun.stdin.stream(),
    /** Whether a person can answer questions. */
    isTerminal: isatty(2) && (isatty(0) || hasTerminal()),
    /** Whether a person types standard input. */
    isInputTerminal: isatty(0),
    /** Whether a person reads standard output. */
    isOutputTerminal: isatty(1),
    /** Shows progress on a terminal. */
    startProgress: createStartProgress(stderr),
    /** Columns of the terminal, for the help and for lists. */
    width: columnsOf(outside.env.COLUMNS) ?? ((stdout.isTTY && stdout.columns) || 80),
    ask: (question: string) => ask(question, input()),
    /** Asks without echoing the input. Throws when the person cancels. */
    askHidden: (question: string) => askHidden(question, input()),
    onSignal,
    passSignals,
    pause,
    /** The umask that this process was started with, for programs that it starts. */
    umask: outside.umask,
    /** Calls `listener` for an uncaught error, which ends the process. */
    onCrash: (listener: (cause: unknown) => void): void => {
      process.on('uncaughtException', listener)
      process.on('unhandledRejection', listener)
    },
    exitNow: (code: number): void => process.exit(code),
    giveWay,
    network: { lookUp, listAddresses, hostName: hostname },
    openLink: createOpenLink(os),
    openPage: createOpenPage(os),
    stopProcess,
    /** The installed service whose data this user may open. */
    findService: () => findService(os),
    /** The command that starts this program again: the executable, or the runtime and its entry. */
    self,
  }
}

/**
 * Calls `listener` instead of ending the process: `stop` for SIGINT, SIGTERM, SIGQUIT and a closed terminal,
 * `reload` for any other SIGHUP. Ignores SIGUSR1 and SIGUSR2 from then on.
 */
function onSignal(listener: (wish: 'stop' | 'reload') => void): void {
  const hadTerminal = isatty(0)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => listener('stop'))
  // Windows sends it when the console window is closed.
  const isClosing = () => process.platform === 'win32' || (hadTerminal && !hasTerminal())
  process.on('SIGHUP', () => listener(isClosing() ? 'stop' : 'reload'))
  if (process.platform === 'win32') return
  process.on('SIGQUIT', () => listener('stop'))
  for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => undefined)
}

/** Signals that a program expects from the process that started it. */
const PASSED = [
  'SIGHUP',
  'SIGINT',
  'SIGQUIT',
  'SIGTERM',
  'SIGUSR1',
  'SIGUSR2',
  'SIGWINCH',
  'SIGCONT',
] as const

/** Calls `listener` instead of ending the process, until the returned function is called. */
function passSignals(listener: (signal: NodeJS.Signals) => void): () => void {
  const signals = process.platform === 'win32' ? PASSED.slice(0, 4) : PASSED
  for (const signal of signals) process.on(signal, listener)
  return () => {
    for (const signal of signals) process.off(signal, listener)
  }
}

/** Waits that many seconds, or until a signal asks the process to stop. */
async function pause(seconds: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = passSignals((signal) => /INT|TERM|HUP|QUIT/.test(signal) && resolve())
  const timer = setTimeout(resolve, seconds * SECOND)
  await promise
  clearTimeout(timer)
  stop()
}

/**
 * The lowered priority. On a busy machine it leaves the process about a quarter of a core, so that a backup
 * of a million pushes still ends within minutes; the lowest priority would starve it.
 */
const LOW_PRIORITY = 5

/** Lowers the priority of this process. */
function giveWay(): void {
  try {
    setPriority(Math.max(getPriority(), LOW_PRIORITY))
  } catch {
    // Not every system allows this: keep the priority.
  }
}

/** Asks a process of this user to stop. Returns false if it does not exist. */
function stopProcess(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGTERM')
  } catch {
    return false
  }
}

/** Parses the variable COLUMNS, which scripts and `watch` set. */
function columnsOf(text: string | undefined): number | null {
  return /^[1-9]\d{0,3}$/.test(text ?? '') ? Number(text) : null
}

async function lookUp(name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address)
}

/** Interfaces to containers and virtual machines, through which no other machine is reachable. */
const INTERNAL = /^(docker|br-|veth|virbr|vboxnet|vmnet|vnet|lxc|lxd|cni|flannel|podman|bridge)/

function listAddresses(): string[] {
  const interfaces = Object.entries(networkInterfaces()).filter(([name]) => !INTERNAL.test(name))
  return interfaces.flatMap(([, all = []]) => all.map(({ address }) => address))
}

/** Asks for a line. Resolves to an empty text at the end of input (Ctrl-D). */
async function ask(question: string, input: NodeJS.ReadableStream): Promise<string> {
  const { createInterface } = await import('node:readline')
  const lines = createInterface({ input, terminal: false })
  return new Promise<string>((resolve) => {
    process.stderr.write(question)
    lines.once('line', resolve)
    lines.once('close', () => resolve(''))
  }).finally(() => lines.close())
}

async function askHidden(question: string, input: NodeJS.ReadableStream): Promise<string> {
  // Loaded only when needed, since most commands never ask.
  const { default: password } = await import('@inquirer/password')
  return password({ message: question, toggleMask: false }, { input, output: process.stderr })
}

/** The terminal, even when standard input is a pipe, as in `pwgen | oncebox push --passphrase`. */
const TERMINAL = '/dev/tty'

function hasTerminal(): boolean {
  try {
    closeSync(openSync(TERMINAL, 'r'))
    return true
  } catch {
    return false
  }
}

/**
 * The tolerance for rounded seconds and for reading the two clocks at slightly different times. A larger
 * difference means that the machine slept.
 */
const UPTIME_TOLERANCE = 2 * SECOND

/**
 * Returns the uptime of the machine in whole milliseconds. Bun reports it in whole seconds, so the process's
 * clock, which stops while the machine sleeps, measures the time between. `seconds`: since the machine was
 * started, including sleep. `elapsed`: milliseconds since any fixed moment, with fractions.
 */
export function createUptime({ seconds, elapsed }: { seconds: () => number; elapsed: Now }): Uptime {
  let startedAt = elapsed() - seconds() * SECOND
  return () => {
    const [up, reading] = [seconds() * SECOND, elapsed()]
    if (Math.abs(reading - startedAt - up) > UPTIME_TOLERANCE) startedAt = reading - up
    return wholeMilliseconds(reading - startedAt)
  }
}
