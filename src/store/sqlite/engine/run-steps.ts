// Runs steps on SQLite: one that reads at once, one that writes within a batch of the group commit.

import type { Database, SQLQueryBindings } from 'bun:sqlite'
import type { Ask, Statement, Step, Steps } from '../../steps.ts'
import type { Transact } from './group-commit.ts'

type Bindings = SQLQueryBindings[]
type Prepared = (values: Bindings) => Record<string, unknown>[]

export type SqliteSteps = Steps & {
  /** Runs a step at once, within a transaction that something else began. */
  within<T>(step: Step<T>): T
}

export function createSteps(database: Database, transact: Transact): SqliteSteps {
  const known = new Map<Statement<unknown>, Prepared>()

  function ask({ statement, values }: Ask): readonly unknown[] {
    let prepared = known.get(statement)
    if (prepared === undefined) {
      prepared = prepare(database, statement)
      known.set(statement, prepared)
    }
    // Bytes come as Uint8Array; Bun binds every view of an ArrayBuffer.
    return prepared(values as Bindings)
  }

  return {
    read: async (step) => drive(step(), ask),
    write: (step, { grows = false } = {}) => transact(() => drive(step(), ask), { grows }),
    within: (step) => drive(step, ask),
  }
}

/** Runs a step to its end at once. */
function drive<T>(step: Step<T>, ask: (asked: Ask) => readonly unknown[]): T {
  let next = step.next()
  while (!next.done) next = step.next(ask(next.value))
  return next.value
}

function prepare(database: Database, { text, flags }: Statement<unknown>): Prepared {
  const statement = database.prepare<Record<string, unknown>, Bindings>(text.replace(/\$(\d+)/g, '?$1'))
  return (values) => {
    const rows = statement.all(...values)
    for (const row of rows)
      for (const flag of flags) if (typeof row[flag] === 'number') row[flag] = row[flag] === 1
    return rows
  }
}
