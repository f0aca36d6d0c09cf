// Starts this program again to make a backup in a process of its own, so that nothing of the server waits for
// a disk that hangs.

import { existsSync } from 'node:fs'
import { reasonOf } from '../domain/system-errors.ts'

export type BackupEnd =
  /** `said` is null for a backup without any fault, otherwise a sentence. */
  | { state: 'ended'; said: string | null }
  /** By SIGTERM, which a service manager sends to every process of the server. */
  | { state: 'stopped' }

export type BackupChild = {
  /** Resolves once the process is gone. */
  ended: Promise<BackupEnd>
  kill(signal: 'SIGTERM' | 'SIGKILL'): void
}

/** `args` are those of the command. */
export type StartBackup = (args: readonly string[]) => BackupChild

export type OwnProgram = {
  /** The command that starts this program again: the executable, or the runtime and its entry. */
  self: readonly string[]
  env: Readonly<Record<string, string | undefined>>
}

/** What systems need to start a program; our variables may hold secrets. */
const NEEDED = ['PATH', 'TMPDIR', 'TMP', 'TEMP', 'SystemRoot', 'windir']

export function createStartBackup({ self: [program = '', ...entry], env }: OwnProgram): StartBackup {
  const options = {
    argv0: program,
    env: Object.fromEntries(NEEDED.flatMap((name) => (env[name] ? [[name, env[name]]] : []))),
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
    // The sources need the folder of their project.
    cwd: entry.length === 0 ? '/' : process.cwd(),
  } as const
  return (args) => {
    try {
      const child = Bun.spawn([runningProgram(program, entry), ...entry, ...args], options)
      const errors = new Response(child.stderr).text().catch(() => '')
      const ended = child.exited.then(async () => endOf(child, await errors))
      return { ended, kill: (signal) => child.kill(signal) }
    } catch (cause) {
      const said = `No process could be started: ${reasonOf(cause)}.`
      return { ended: Promise.resolve({ state: 'ended', said }), kill: () => undefined }
    }
  }
}

/** The program that runs, also when its file was replaced meanwhile. */
function runningProgram(program: string, entry: readonly string[]): string {
  const running = '/proc/self/exe'
  return entry.length === 0 && existsSync(running) ? running : program
}

/** As shells tell it, and commands that clean up on the way out. */
const STOPPED = 143

type Ended = Pick<Bun.Subprocess, 'exitCode' | 'signalCode'>

function endOf({ exitCode, signalCode }: Ended, errors: string): BackupEnd {
  if (exitCode === 0) return { state: 'ended', said: null }
  if (signalCode === 'SIGTERM' || exitCode === STOPPED) return { state: 'stopped' }
  if (signalCode === null) return { state: 'ended', said: lastWords(errors) ?? `It ended with ${exitCode}.` }
  const said = `It was ended by ${signalCode}: see the log of the system for the reason, such as too little memory.`
  return { state: 'ended', said }
}

/** The last line of the command, not of a stack. */
function lastWords(errors: string): string | null {
  const lines = errors.trimEnd().split('\n')
  const line = lines.findLast((one) => one.startsWith('oncebox: ')) ?? lines.at(-1) ?? ''
  return line.replace(/^oncebox: (warning: )?/, '').slice(0, 1_000) || null
}
