// What a command sees of the world outside: terminal, environment, files, signals. The only place that touches them.

import { lookup } from 'node:dns/promises'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { homedir, networkInterfaces } from 'node:os'
import { createInterface } from 'node:readline'
import { isatty, ReadStream } from 'node:tty'
import type { Network } from '../app.ts'
import type { Environment, Place } from '../settings/parsers.ts'
import { printable } from './format.ts'
import { createStartProgress, type StartProgress } from './progress.ts'

export type Shell = {
  place: Place
  now: () => number
  readFile: (path: string) => string
  /** One line on standard output: what the command was asked for. Made printable where a person reads it. */
  print: (line: string) => void
  /** On standard output, as it is. */
  printExactly: (text: string) => void
  /** One line on standard error: everything else. Made printable. */
  say: (line: string) => void
  /** On standard error, with colours. */
  draw: (picture: string) => void
  /** As `say`, but may wait for the end of this turn of the event loop: for the log of a busy server. */
  sayLater: (line: string) => void
  /** All of standard input. */
  readInput: () => Promise<string>
  /** The same, piece by piece as it comes. */
  readInputBytes: () => AsyncIterable<Uint8Array>
  /** The same as a whole, unless it is no UTF-8: then null. */
  readInputText: () => Promise<string | null>
  /** Whether a person can be asked. */
  isTerminal: boolean
  /** Whether a person types standard input. */
  isInputTerminal: boolean
  /** Whether a person reads standard output. */
  isOutputTerminal: boolean
  /** Shows how far something is, where somebody can see it. */
  startProgress: StartProgress
  /** Columns to write help in. */
  width: number
  ask: (question: string) => Promise<string>
  /** Asks without showing what is typed. Throws when the person gives up. */
  askHidden: (question: string) => Promise<string>
  /** Calls `listener` for every SIGINT and SIGTERM from now on, instead of dying. */
  onStopSignal: (listener: () => void) => void
  exitNow: (code: number) => void
  network: Network
  /** What starts this program once more: the executable, or the runtime and its entry. */
  self: readonly string[]
}

/** Whether this runs from the files embedded in an executable, which have a root of their own. */
function isExecutable(): boolean {
  return /^(\/\$bunfs\/|[A-Z]:[/\\]~BUN[/\\])/.test(Bun.main)
}

export function createShell(outside: { env: Environment; now: () => number }): Shell {
  const { stdout, stderr } = process
  // A reader that goes away (`oncebox user list | head -1`, a log collector) is no reason to die.
  for (const stream of [stdout, stderr]) stream.on('error', () => undefined)
  let terminal: ReadStream | null = null

  /** Opened once: a second reader would lose what the first one has read ahead. */
  function input(): NodeJS.ReadableStream {
    if (isatty(0)) return process.stdin
    terminal = terminal ?? new ReadStream(openSync(TERMINAL, 'r'))
    return terminal
  }

  return {
    place: { env: outside.env, platform: process.platform, home: homedir(), cwd: process.cwd() },
    now: outside.now,
    readFile: (path) => readFileSync(path, 'utf8'),
    print: (line) => stdout.write(`${isatty(1) ? printable(line) : line}\n`),
    printExactly: (text) => stdout.write(text),
    say: (line) => stderr.write(`${printable(line)}\n`),
    draw: (picture) => stderr.write(`${picture}\n`),
    sayLater: gatherLines((lines) => stderr.write(lines)),
    readInput: () => new Response(Bun.stdin.stream()).text(),
    readInputBytes: () => Bun.stdin.stream(),
    readInputText,
    isTerminal: isatty(2) && (isatty(0) || hasTerminal()),
    isInputTerminal: isatty(0),
    isOutputTerminal: isatty(1),
    startProgress: createStartProgress(stderr),
    width: (stdout.isTTY && stdout.columns) || 80,
    ask,
    askHidden: (question) => askHidden(question, input()),
    onStopSignal: (listener) => {
      process.on('SIGINT', listener)
      process.on('SIGTERM', listener)
    },
    exitNow: (code) => process.exit(code),
    network: { lookUp, listAddresses },
    self: isExecutable() ? [process.execPath] : [process.execPath, Bun.main],
  }
}

async function lookUp(name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address)
}

/** Networks between this machine and its own containers and virtual machines: nobody else is in them. */
const INTERNAL = /^(docker|br-|veth|virbr|vboxnet|vmnet|vnet|lxc|lxd|cni|flannel|podman|bridge)/

function listAddresses(): string[] {
  const interfaces = Object.entries(networkInterfaces()).filter(([name]) => !INTERNAL.test(name))
  return interfaces.flatMap(([, all = []]) => all.map(({ address }) => address))
}

/** One write for the lines of many requests: a system call each would be a tenth of their cost. */
function gatherLines(write: (lines: string) => void): (line: string) => void {
  let gathered = ''
  return (line) => {
    if (gathered === '') {
      setImmediate(() => {
        write(gathered)
        gathered = ''
      })
    }
    gathered += `${line}\n`
  }
}

/** The end of input (Ctrl-D) is an empty answer. */
function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, terminal: false })
  return new Promise<string>((resolve) => {
    process.stderr.write(question)
    lines.once('line', resolve)
    lines.once('close', () => resolve(''))
  }).finally(() => lines.close())
}

async function askHidden(question: string, input: NodeJS.ReadableStream): Promise<string> {
  // Loaded late: most commands never ask.
  const { default: password } = await import('@inquirer/password')
  return password({ message: question, toggleMask: false }, { input, output: process.stderr })
}

/** Where a person sits although standard input is something else, as in `pwgen | oncebox push --passphrase`. */
const TERMINAL = '/dev/tty'

function hasTerminal(): boolean {
  try {
    closeSync(openSync(TERMINAL, 'r'))
    return true
  } catch {
    return false
  }
}

async function readInputText(): Promise<string | null> {
  const bytes = await new Response(Bun.stdin.stream()).bytes()
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}
