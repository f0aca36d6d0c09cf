// Runs steps on PostgreSQL: one that reads outside any transaction, one that writes in a transaction of its own.

import type { Ask, Statement, Step, Steps } from '../../steps.ts'
import type { PostgresDatabase, Session } from './database.ts'

export function createSteps({ read, transact }: Pick<PostgresDatabase, 'read' | 'transact'>): Steps {
  return {
    read: (step) => read((session) => drive(step(), session)),
    write: (step, { within } = {}) =>
      transact((session) => drive(step(), session), within === undefined ? {} : { within }),
  }
}

/** Runs a step within a transaction that something else began. */
export async function drive<T>(step: Step<T>, session: Session): Promise<T> {
  let next = step.next()
  while (!next.done) next = step.next(await ask(session, next.value))
  return next.value
}

async function ask({ query }: Session, { statement, values }: Ask): Promise<readonly unknown[]> {
  const rows = await query<Record<string, unknown>>(textOf(statement), values)
  // Bun returns numbers of 64 bits as texts. Ids and times stay far below 2^53.
  for (const row of rows)
    for (const name of statement.numbers) if (typeof row[name] === 'string') row[name] = Number(row[name])
  return rows
}

function textOf({ text, lock }: Statement<unknown>): string {
  return lock === '' ? text : `${text} ${lock}`
}
