// Finds and runs a program that gets secrets: its environment, its exit code, and the signals for it.

import { existsSync, readFileSync } from 'node:fs'
import { constants as os } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { codeOf } from '../../domain/system-errors.ts'
import type { Environment } from '../../settings/parsers.ts'
import { CommandFailure } from '../failures.ts'
import type { Shell } from '../shell.ts'

/** The exit codes of shells for a program that is missing, or that cannot be run. */
export const NOT_EXECUTABLE = 126
export const NOT_FOUND = 127

export class ProgramFailure extends CommandFailure {
  readonly exitCode: number

  constructor(exitCode: typeof NOT_EXECUTABLE | typeof NOT_FOUND, name: string) {
    super(`${JSON.stringify(name)}: ${exitCode === NOT_FOUND ? 'command not found' : 'cannot be executed'}.`)
    this.exitCode = exitCode
  }
}

/** Returns the path of a program as a shell finds it. Throws ProgramFailure. */
export function findProgram(name: string, { env, cwd }: Shell['os']): string {
  const path = env.PATH ?? env.Path ?? '/usr/bin:/bin'
  const found = Bun.which(name, { PATH: path, cwd })
  if (found !== null) return found
  const places = name.includes('/') ? [name] : path.split(delimiter).map((folder) => join(folder, name))
  const exists = places.some((place) => existsSync(resolve(cwd, place)))
  throw new ProgramFailure(exists ? NOT_EXECUTABLE : NOT_FOUND, name)
}

/** Tokens of other servers may be so short that they occur in a variable by chance. */
const MIN_TOKEN_CHARACTERS = 11

/**
 * Returns the environment for a program. Leaves out the variables of oncebox, those named in `without`, and
 * each whose value contains one of the links' `tokens`.
 */
export function programEnvironment(
  env: Environment,
  { without = [], tokens = [] }: { without?: readonly string[]; tokens?: readonly string[] } = {},
): Record<string, string> {
  const long = tokens.filter(({ length }) => length >= MIN_TOKEN_CHARACTERS)
  const kept: Record<string, string> = {}
  for (const [name, value = ''] of Object.entries(env)) {
    const holdsLink = long.some((token) => value.toLowerCase().includes(token.toLowerCase()))
    if (!/^ONCEBOX_/i.test(name) && !without.includes(name) && !holdsLink) kept[name] = value
  }
  return kept
}

type Run = {
  /** The path from `findProgram`. */
  path: string
  argv: readonly string[]
  env: Record<string, string>
  /** The secret to pass on standard input; null passes this process's own input. */
  input: Uint8Array | null
  shell: Shell
}

export type ProgramEnd = { exitCode: number; signal: NodeJS.Signals | null }

/** Starts a child with this umask. */
export function withUmask<T>(umask: number, start: () => T): T {
  const own = process.umask(umask)
  try {
    return start()
  } finally {
    process.umask(own)
  }
}

/** Runs the program until it ends, passing signals on. Throws ProgramFailure, or the system's error. */
export async function runProgram({ path, argv, env, input, shell }: Run): Promise<ProgramEnd> {
  const [name = path, ...args] = argv
  let child: Bun.Subprocess | null = null
  const early: NodeJS.Signals[] = []
  const stopPassing = shell.passSignals((signal) => {
    if (child === null) early.push(signal)
    else if (!isFromTerminal(signal, shell)) child.kill(signal)
  })
  // Bun passes bytes to the child as a file in memory.
  const streams = { stdin: input ?? 'inherit', stdout: 'inherit', stderr: 'inherit' } as const
  try {
    child = withUmask(shell.umask, () => Bun.spawn([path, ...args], { env, argv0: name, ...streams }))
    for (const signal of early) child.kill(signal)
    await child.exited
    const signal = typeof child.signalCode === 'string' ? child.signalCode : null
    return signal === null
      ? { exitCode: child.exitCode ?? 0, signal }
      : { exitCode: 128 + os.signals[signal], signal }
  } catch (cause) {
    // The message of such an error may repeat an environment variable.
    if (codeOf(cause) === 'E2BIG')
      throw new CommandFailure(
        'A secret is too long for a variable: use --stdin or --file. The views are spent; the command was not run.',
      )
    if (codeOf(cause) === 'ENOENT') throw new ProgramFailure(NOT_FOUND, name)
    if (['EACCES', 'EPERM', 'ENOEXEC'].includes(codeOf(cause))) throw new ProgramFailure(NOT_EXECUTABLE, name)
    throw cause
  } finally {
    stopPassing()
  }
}

/**
 * Whether the terminal has sent the signal to the whole foreground process group, and so to the child too.
 */
function isFromTerminal(signal: NodeJS.Signals, { isInputTerminal }: Shell): boolean {
  if (signal !== 'SIGINT' && signal !== 'SIGQUIT' && signal !== 'SIGWINCH') return false
  try {
    // After the program's name, pgrp is the third field, and tpgid the sixth.
    const [, rest = ''] = /^.*\) (.*)$/s.exec(readFileSync('/proc/self/stat', 'utf8')) ?? []
    const fields = rest.split(' ')
    return fields[2] === fields[5]
  } catch {
    return isInputTerminal
  }
}
