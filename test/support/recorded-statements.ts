// Records the statements that SQLite runs in this process, or that arrive at PostgreSQL, and the transactions
// around them that commit a change.

import { Database, type Statement } from 'bun:sqlite'
import type { FaultProxy } from './fault-proxy.ts'

export type Recorded = { statements: string[]; transactions: number }

export type Recorder = {
  /** Records the statements of `work` until its promise resolves. Passes it what has been recorded so far. */
  during(work: (soFar: Recorded) => Promise<unknown>): Promise<Recorded>
}

/** Matches statements of jobs: the sweep and the deliveries query what is due, and a node has heartbeats. */
const BY_JOBS = [
  'SELECT expires_at AS at FROM pushes WHERE expired_on IS NULL ORDER BY expires_at',
  /^SELECT .* FROM files_due WHERE at IS NOT NULL/,
  'SELECT due_at AS at FROM outbox ORDER BY due_at',
  'SELECT FROM instance FOR UPDATE',
]
const isByJob = (sql: string) =>
  BY_JOBS.some((job) => (typeof job === 'string' ? sql.startsWith(job) : job.test(sql)))
const onOneLine = (sql: string) => sql.replace(/\s+/g, ' ').trim()

/**
 * Records every statement of every database that is prepared from now on. Call it before the store is opened.
 */
export function recordStatements(): Recorder & { stop(): void } {
  const { prepare, run } = Database.prototype
  let recorded: Recorded = { statements: [], transactions: 0 }
  let hasChanged = false
  const note = (sql: string) => {
    if (/^\s*BEGIN/i.test(sql)) hasChanged = false
    // Skip the statements of the runner itself.
    if (/^\s*(BEGIN|COMMIT|ROLLBACK|PRAGMA|SAVEPOINT|RELEASE)|total_changes/i.test(sql)) return
    if (isByJob(onOneLine(sql))) return
    recorded.statements.push(onOneLine(sql))
    if (hasChanged || /^\s*SELECT/i.test(sql)) return
    hasChanged = true
    recorded.transactions += 1
  }
  Database.prototype.prepare = function (this: Database, sql: string, ...rest: never[]) {
    const statement: Statement = prepare.call(this, sql, ...rest) as never
    for (const name of ['run', 'all', 'get', 'values'] as const) {
      const call = statement[name].bind(statement) as (...values: unknown[]) => unknown
      Object.defineProperty(statement, name, {
        value: (...values: unknown[]) => {
          note(sql)
          return call(...values)
        },
      })
    }
    return statement as never
  } as typeof prepare
  Database.prototype.run = function (this: Database, sql: string, ...rest: never[]) {
    note(sql)
    return run.call(this, sql, ...rest)
  } as typeof run

  return {
    async during(work) {
      recorded = { statements: [], transactions: 0 }
      await work(recorded)
      return recorded
    },
    stop(): void {
      Object.assign(Database.prototype, { prepare, run })
    },
  }
}

/** Records what arrives at PostgreSQL through a proxy: a transaction once its end has arrived. */
export function recordSent(proxy: FaultProxy): Recorder {
  let recorded: Recorded = { statements: [], transactions: 0 }
  const open = new Map<number, string[]>()
  proxy.watch((text, connection) => {
    const sql = onOneLine(text)
    const begun = open.get(connection)
    if (sql === 'BEGIN') open.set(connection, [])
    else if (sql === 'COMMIT' || sql === 'ROLLBACK') {
      open.delete(connection)
      if (begun === undefined || begun.some(isByJob)) return
      if (sql === 'COMMIT') recorded.transactions += 1
      recorded.statements.push(...begun)
    } else if (begun !== undefined) begun.push(sql)
    else if (!isByJob(sql)) recorded.statements.push(sql)
  })
  return {
    async during(work) {
      recorded = { statements: [], transactions: 0 }
      await work(recorded)
      return recorded
    },
  }
}
