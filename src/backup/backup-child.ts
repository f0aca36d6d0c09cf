// Runs a backup in a child process, so that a hanging disk blocks no part of the server.

import { existsSync } from 'node:fs'
import { reasonOf } from '../domain/system-errors.ts'

export type BackupEnd =
  /** `said`: null if the backup succeeded without a warning, otherwise a sentence. */
  | { state: 'ended'; said: string | null }
  /** The child got SIGTERM, which a service manager sends to every process of the server. */
  | { state: 'stopped' }

export type BackupChild = {
  /** Resolves once the process is gone. */
  ended: Promise<BackupEnd>
  kill(signal: 'SIGTERM' | 'SIGKILL'): void
}

/** `args`: the command line of the child. */
export type StartBackup = (args: readonly string[]) => BackupChild

export type OwnProgram = {
  /** The command that starts this program: the executable, or the runtime and its entry file. */
  self: readonly string[]
  env: Readonly<Record<string, string | undefined>>
}

/**
 * The only variables that the child inherits. Those of Oncebox are left out, because they may hold secrets.
 */
const NEEDED = ['PATH', 'TMPDIR', 'TMP', 'TEMP', 'SystemRoot', 'windir']

export function createStartBackup({ self: [program = '', ...entry], env }: OwnProgram): StartBackup {
  const options = {
    argv0: program,
    env: Object.fromEntries(NEEDED.flatMap((name) => (env[name] ? [[name, env[name]]] : []))),
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
    // Run from source, the runtime needs the folder of the project.
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

/** Use the running executable, even if an upgrade has replaced its file. */
function runningProgram(program: string, entry: readonly string[]): string {
  const running = '/proc/self/exe'
  return entry.length === 0 && existsSync(running) ? running : program
}

/** The exit code of a process that ended after SIGTERM: 128 + 15. */
const STOPPED = 143

type ProcessEnd = Pick<Bun.Subprocess, 'exitCode' | 'signalCode'>

function endOf({ exitCode, signalCode }: ProcessEnd, errors: string): BackupEnd {
  if (exitCode === 0) return { state: 'ended', said: null }
  if (signalCode === 'SIGTERM' || exitCode === STOPPED) return { state: 'stopped' }
  if (signalCode === null) return { state: 'ended', said: lastWords(errors) ?? `It ended with ${exitCode}.` }
  const said = `It was killed by ${signalCode}. Look for the reason, such as too little memory, in the system log.`
  return { state: 'ended', said }
}

/** Returns the last message of the command without its stack trace. */
function lastWords(errors: string): string | null {
  const lines = errors.trimEnd().split('\n')
  const line = lines.findLast((one) => one.startsWith('oncebox: ')) ?? lines.at(-1) ?? ''
  return line.replace(/^oncebox: (warning: )?/, '').slice(0, 1_000) || null
}
