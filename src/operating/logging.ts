// Opens the log of a server where its settings say: on standard error, or in a file.

import { DamageError, isDomainError } from '../domain/errors.ts'
import { codeOf, reasonOf } from '../domain/system-errors.ts'
import type { Now } from '../domain/time.ts'
import { createLog, type Log, type LogFormat } from './log.ts'
import { openLogFile } from './log-file.ts'
import type { Reloadable } from './reload.ts'

type LoggingOptions = {
  config: { logFile: string | null; logFormat: LogFormat }
  now: Now
  /** Writes one line to standard error. */
  writeLine: (line: string) => void
}

export type Logging = Awaited<ReturnType<typeof openLogging>>

/** Throws `conflict` when the file cannot be opened. */
export async function openLogging({ config, now, writeLine }: LoggingOptions) {
  const logTo = (write: (line: string) => void) => createLog({ format: config.logFormat, now, write })
  const outer = logTo(writeLine)
  const path = config.logFile
  const onError = (problem: string) => outer.error(problem)
  const fallBack = (lines: string) => lines.trimEnd().split('\n').forEach(writeLine)
  const file = path === null ? null : await openLogFile({ path, onError, fallBack })
  const log = file === null ? outer : logTo(file.write)
  const reloadables: Reloadable[] =
    file === null ? [] : [{ name: 'log file', reload: () => file.reopen().then(() => true) }]

  /** Logs an uncaught error, if the log is a file. The command writes it to standard error in any case. */
  function noteCrash(err: unknown): void {
    if (file === null) return
    log.fatal({ err }, 'the server ends because of an error that nothing caught')
    file.flushNow()
  }

  return {
    log,
    reloadables,
    findLogProblem: file?.findProblem ?? null,
    noteCrash,
    close: async () => file?.close(),
  }
}

/** Logs what failed beside a request. While the database does not answer, the log says so already. */
export function noteFailure(log: Log, message: string): (cause: unknown) => void {
  return (err) => {
    if (!isDomainError(err, 'overloaded')) log.error({ err }, message)
  }
}

/**
 * Services open rows without knowing which engine keeps them, and SQLite says only that a page of its file is
 * damaged.
 */
export function placeDamage(cause: unknown, { databaseUrl }: { databaseUrl: unknown }): unknown {
  if (codeOf(cause).startsWith('SQLITE_CORRUPT')) return new DamageError(`its database (${reasonOf(cause)})`)
  const isElsewhere = cause instanceof DamageError && cause.medium === null && databaseUrl !== null
  return isElsewhere ? new DamageError(cause.place, 'server') : cause
}
