// Opens the log of a server: standard error, or the file of --log-file.

import { DamageError, isDomainError } from '../domain/errors.ts'
import { codeOf, reasonOf } from '../domain/system-errors.ts'
import type { Now } from '../domain/time.ts'
import { createLog, type Log, type LogFormat } from './log.ts'
import { AUDIT_LOG, LOG, type LogKind, openLogFile } from './log-file.ts'
import type { Reloadable } from './reload.ts'

type LoggingOptions = {
  config: { logFile: string | null; logFormat: LogFormat; auditLog: string | null }
  now: Now
  /** Writes one line to standard error. */
  writeLine: (line: string) => void
}

export type Logging = Awaited<ReturnType<typeof openLogging>>

/** Throws `conflict` when the file cannot be opened. */
export async function openLogging({ config, now, writeLine }: LoggingOptions) {
  const logTo = (write: (line: string) => void) => createLog({ format: config.logFormat, now, write })
  const outer = logTo(writeLine)
  const fallBack = (lines: string) => lines.trimEnd().split('\n').forEach(writeLine)
  /** `log` gets the problems of the file. */
  const openFile = async (path: string | null, kind: LogKind, log: Log) =>
    path === null ? null : openLogFile({ path, kind, onError: (problem) => log.error(problem), fallBack })
  const file = await openFile(config.logFile, LOG, outer)
  const log = file === null ? outer : logTo(file.write)
  const audit = await openFile(config.auditLog, AUDIT_LOG, log)
  const files = [file && { name: LOG.what, file }, audit && { name: AUDIT_LOG.what, file: audit }]
  const reloadables: Reloadable[] = files
    .filter((one) => one !== null)
    .map(({ name, file }) => ({ name, reload: () => file.reopen().then(() => true) }))

  /** Logs an uncaught error to the log file. Standard error gets it from the command in any case. */
  function noteCrash(err: unknown): void {
    audit?.flushNow()
    if (file === null) return
    log.fatal({ err }, 'the server ends because of an uncaught error')
    file.flushNow()
  }

  return {
    log,
    /** The file of --audit-log; null without it. */
    audit,
    reloadables,
    findLogProblem: file?.findProblem ?? null,
    noteCrash,
    close: async () => {
      await audit?.close()
      await file?.close()
    },
  }
}

/**
 * Logs a background failure. Skips `overloaded`: the log already reports that the database does not answer.
 */
export function noteFailure(log: Log, message: string): (cause: unknown) => void {
  return (err) => {
    if (!isDomainError(err, 'overloaded')) log.error({ err }, message)
  }
}

/** Adds the engine that stores the rows to a damage report. Services do not know it. */
export function placeDamage(cause: unknown, { databaseUrl }: { databaseUrl: unknown }): unknown {
  if (codeOf(cause).startsWith('SQLITE_CORRUPT')) return new DamageError(`its database (${reasonOf(cause)})`)
  const isElsewhere = cause instanceof DamageError && cause.medium === null && databaseUrl !== null
  return isElsewhere ? new DamageError(cause.place, 'server') : cause
}
