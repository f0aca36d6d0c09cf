// Runs steps on PostgreSQL: one that reads outside any transaction, one that writes in a transaction of its own.

import type { Ask, Effect, Step, Steps } from '../../steps.ts'
import type { Changing, PostgresDatabase, Session } from './database.ts'

export type StepsOptions = Pick<PostgresDatabase, 'read' | 'transact'> & {
  /** Called after a commit that made files due. */
  onDue: () => void
}

export function createSteps({ read, transact, onDue }: StepsOptions): Steps {
  async function write<T>(step: () => Step<T>, { within }: { within?: number } = {}): Promise<T> {
    const effects = new Set<Effect>()
    const work = (session: Changing) => drive(step(), session, effects)
    const value = await transact(work, within === undefined ? {} : { within })
    if (effects.has('due')) onDue()
    return value
  }

  return { read: (step) => read((session) => drive(step(), session)), write }
}

/** Runs a step within a transaction that something else began. Sends what nobody waits for without waiting for its answer. */
export async function drive<T>(
  step: Step<T>,
  session: Session & Partial<Changing>,
  effects?: Set<Effect>,
): Promise<T> {
  const { send } = session
  let next = step.next()
  while (!next.done) {
    const { statement, values, isBlind } = next.value
    if (statement.effect !== null) effects?.add(statement.effect)
    if (isBlind && send !== undefined) {
      send(textOf(next.value), values)
      next = step.next(NO_ROWS)
    } else next = step.next(await ask(session, next.value))
  }
  return next.value
}

const NO_ROWS: readonly unknown[] = []

async function ask({ query }: Session, asked: Ask): Promise<readonly unknown[]> {
  const rows = await query<Record<string, unknown>>(textOf(asked), asked.values)
  // Bun returns numbers of 64 bits as texts. Ids and times stay far below 2^53.
  for (const row of rows)
    for (const name of asked.statement.numbers)
      if (typeof row[name] === 'string') row[name] = Number(row[name])
  return rows
}

function textOf({ statement: { text, suffix } }: Ask): string {
  return suffix === '' ? text : `${text} ${suffix}`
}
