// Opens the log of a server where its settings say: on standard error, or in a file.

import { DamageError, isDomainError } from '../domain/errors.ts'
import type { Now } from '../domain/time.ts'
import { createLog, type Log, type LogFormat } from './log.ts'
import { type LogFile, openLogFile } from './log-file.ts'
import type { Reloadable } from './reload.ts'

export type Logging = {
  log: Log
  reloadables: Reloadable[]
  /** Logs an uncaught error, if the log is a file. The command writes it to standard error in any case. */
  noteCrash(cause: unknown): void
  close(): Promise<void>
}

export type LoggingOptions = {
  config: { logFile: string | null; logFormat: LogFormat }
  now: Now
  /** Writes one line to standard error. */
  writeLine: (line: string) => void
}

/** Throws `conflict` when the file cannot be opened. */
export async function openLogging({ config, now, writeLine }: LoggingOptions): Promise<Logging> {
  const logTo = (write: (line: string) => void) => createLog({ format: config.logFormat, now, write })
  const outer = logTo(writeLine)
  if (config.logFile === null)
    return { log: outer, reloadables: [], noteCrash: () => undefined, close: async () => undefined }
  const file = await openLogFile({ path: config.logFile, onError: (problem) => outer.error(problem) })
  return { log: logTo(file.write), ...ofFile(file, logTo(file.write)) }
}

function ofFile(file: LogFile, log: Log): Omit<Logging, 'log'> {
  return {
    reloadables: [{ name: 'log file', reload: () => file.reopen().then(() => true) }],
    noteCrash: (err) => {
      log.fatal({ err }, 'the server ends because of an error that nothing caught')
      file.flushNow()
    },
    close: file.close,
  }
}

/** Logs what failed beside a request. While the database does not answer, the log says so already. */
export function noteFailure(log: Log, message: string): (cause: unknown) => void {
  return (err) => {
    if (!isDomainError(err, 'overloaded')) log.error({ err }, message)
  }
}

/** Services open rows without knowing which engine keeps them. */
export function placeDamage(cause: unknown, { databaseUrl }: { databaseUrl: unknown }): unknown {
  const isElsewhere = cause instanceof DamageError && cause.medium === null && databaseUrl !== null
  return isElsewhere ? new DamageError(cause.place, 'server') : cause
}
