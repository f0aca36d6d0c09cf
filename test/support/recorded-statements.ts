// Records the statements that SQLite runs in this process, and the transactions around them.

import { Database, type Statement } from 'bun:sqlite'

export type Recorded = { statements: string[]; transactions: number }

/**
 * Records every statement of every database that is prepared from now on. Call it before the store is opened.
 */
export function recordStatements() {
  const { prepare, run } = Database.prototype
  let recorded: Recorded = { statements: [], transactions: 0 }
  const note = (sql: string) => {
    if (/^\s*BEGIN/i.test(sql)) recorded.transactions += 1
    // What the runner itself asks, whatever it runs.
    else if (!/^\s*(COMMIT|ROLLBACK|PRAGMA|SAVEPOINT|RELEASE)|total_changes/i.test(sql))
      recorded.statements.push(sql.replace(/\s+/g, ' ').trim())
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
    /** Records the statements of `work` until its promise resolves. */
    async during(work: () => Promise<unknown>): Promise<Recorded> {
      recorded = { statements: [], transactions: 0 }
      await work()
      return recorded
    },
    stop(): void {
      Object.assign(Database.prototype, { prepare, run })
    },
  }
}
