// What a command sees of the world outside: terminal, environment, files, signals. The only place that touches them.

import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { createInterface } from 'node:readline'
import { isatty } from 'node:tty'
import type { Environment, Place } from '../setting-parsers.ts'

export type Shell = {
  place: Place
  now: () => number
  readFile: (path: string) => string
  /** One line on standard output: what the command was asked for. */
  print: (line: string) => void
  /** One line on standard error: everything else. */
  say: (line: string) => void
  /** As `say`, but may wait for the end of this turn of the event loop: for the log of a busy server. */
  sayLater: (line: string) => void
  /** All of standard input. */
  readInput: () => Promise<string>
  /** Whether a person can be asked. */
  isTerminal: boolean
  /** Columns to write help in. */
  width: number
  ask: (question: string) => Promise<string>
  /** Asks without showing what is typed. Throws when the person gives up. */
  askHidden: (question: string) => Promise<string>
  /** Calls `listener` for every SIGINT and SIGTERM from now on, instead of dying. */
  onStopSignal: (listener: () => void) => void
  exitNow: (code: number) => void
}

export function createShell(outside: { env: Environment; now: () => number }): Shell {
  const { stdout, stderr } = process
  // A reader that goes away (`oncebox user list | head -1`, a log collector) is no reason to die.
  for (const stream of [stdout, stderr]) stream.on('error', () => undefined)
  return {
    place: { env: outside.env, platform: process.platform, home: homedir(), cwd: process.cwd() },
    now: outside.now,
    readFile: (path) => readFileSync(path, 'utf8'),
    print: (line) => stdout.write(`${line}\n`),
    say: (line) => stderr.write(`${line}\n`),
    sayLater: gatherLines((lines) => stderr.write(lines)),
    readInput: () => new Response(Bun.stdin.stream()).text(),
    isTerminal: isatty(0) && isatty(2),
    width: (stdout.isTTY && stdout.columns) || 80,
    ask,
    askHidden,
    onStopSignal: (listener) => {
      process.on('SIGINT', listener)
      process.on('SIGTERM', listener)
    },
    exitNow: (code) => process.exit(code),
  }
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

async function askHidden(question: string): Promise<string> {
  // Loaded late: most commands never ask.
  const { default: password } = await import('@inquirer/password')
  return password({ message: question, toggleMask: false }, { output: process.stderr })
}
