// The steps of `oncebox exec`: find the command, check the links, open them, run the command.

import { presentFailure } from '../failures.ts'
import type { CallInput } from '../server-command.ts'
import type { Shell } from '../shell.ts'
import { forbidCoreDumps } from './core-dumps.ts'
import { createMemoryFolder, type MemoryFolder } from './memory-folder.ts'
import {
  findProgram,
  NOT_FOUND,
  type ProgramEnd,
  ProgramFailure,
  programEnvironment,
  runProgram,
} from './program.ts'
import { checkLinks, nameOf, openLinks, SourceFailure } from './secrets.ts'
import { type ExecStatus, writeStatus } from './status-file.ts'
import { type PassphraseVariable, type Source, STDIN, type Target } from './targets.ts'

/** The exit code when a link was already opened or has ended. */
const GONE = 123
/** The exit code when Oncebox has failed, so that the command was not run. */
const FAILED = 125

type ExecInput = CallInput & {
  operands: readonly string[]
  flags: {
    env: readonly Target[]
    stdin: Source | null
    file: readonly Target[]
    passphraseEnv: readonly PassphraseVariable[]
    allowDisk: boolean
    statusFile: string | null
    verbose: boolean
  }
}

/**
 * Resolves to the exit code: the command's, or one of Oncebox with a message on standard error. Never throws.
 */
export async function exec(given: ExecInput): Promise<number> {
  const { flags, shell } = given
  const notes: string[] = []
  try {
    if (flags.statusFile !== null)
      writeStatus(flags.statusFile, { outcome: 'unfinished', exitCode: null, signal: null })
    const { exitCode, signal } = await checkOpenAndRun(given, (note) => notes.push(note))
    return recordStatus(flags.statusFile, { outcome: 'exited', exitCode, signal }, shell)
  } catch (cause) {
    if (flags.verbose) shell.say(...notes)
    return reportFailure(cause, flags.statusFile, shell)
  }
}

async function checkOpenAndRun(given: ExecInput, note: (line: string) => void): Promise<ProgramEnd> {
  const { operands, flags, shell } = given
  forbidCoreDumps()
  const path = findProgram(operands[0] ?? '', shell.os)
  note(`The command is ${path}.`)
  using folder = flags.file.length > 0 ? createMemoryFolder(shell.os, flags) : null
  const input: Target[] = flags.stdin === null ? [] : [{ use: 'stdin', name: STDIN, source: flags.stdin }]
  const targets = [...flags.env, ...input, ...flags.file]
  const links = await checkLinks(targets, flags.passphraseEnv, given)
  note(`Checked: ${targets.map(nameOf).join(', ')}.`)
  const secrets = await openLinks(links)
  note('Opened all.')
  const env = programEnvironment(shell.os.env, {
    without: [...flags.passphraseEnv.map(({ variable }) => variable), ...targets.flatMap(variablesOf)],
    tokens: links.map(({ linkToken }) => linkToken),
  })
  return await runProgram({
    ...{ path, argv: operands, shell },
    env: { ...env, ...variables(secrets, folder) },
    input: inputOf(targets, secrets),
  })
}

const variablesOf = ({ source }: Target) => (source.from === 'variable' ? [source.variable] : [])

type Secrets = ReadonlyMap<Target, Uint8Array>

/** Returns the variables for the command, each with a secret or with the path of a secret's file. */
function variables(secrets: Secrets, folder: MemoryFolder | null): Record<string, string> {
  const values = [...secrets].flatMap(([{ use, name }, bytes]) => {
    if (use === 'env') return [[name, Buffer.from(bytes).toString('utf8')]]
    return use === 'file' && folder !== null ? [[name, folder.write(name, bytes)]] : []
  })
  return Object.fromEntries(values)
}

/** Returns empty input if our standard input held a link, and null to pass it on. */
function inputOf(targets: readonly Target[], secrets: Secrets): Uint8Array | null {
  const found = [...secrets].find(([{ use }]) => use === 'stdin')
  const isRead = targets.some(({ source }) => source.from === 'descriptor' && source.descriptor === 0)
  return found?.[1] ?? (isRead ? new Uint8Array() : null)
}

/** Prints the failure and records its status. Returns the exit code. */
export function reportFailure(cause: unknown, statusFile: string | null, shell: Shell): number {
  const { outcome, exitCode } = statusOf(cause)
  shell.say(...presentFailure(cause).lines)
  return recordStatus(statusFile, { outcome, exitCode, signal: null }, shell)
}

function statusOf(cause: unknown): { outcome: ExecStatus['outcome']; exitCode: number } {
  if (cause instanceof SourceFailure && cause.isGone) return { outcome: 'gone', exitCode: GONE }
  if (!(cause instanceof ProgramFailure)) return { outcome: 'failed', exitCode: FAILED }
  const { exitCode } = cause
  return { outcome: exitCode === NOT_FOUND ? 'not_found' : 'not_executable', exitCode }
}

/** Writes the status, or says why not. Returns its exit code. */
function recordStatus(path: string | null, status: ExecStatus & { exitCode: number }, shell: Shell): number {
  try {
    if (path !== null) writeStatus(path, status)
  } catch (cause) {
    shell.say(...presentFailure(cause).lines)
  }
  return status.exitCode
}
