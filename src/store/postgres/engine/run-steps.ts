// Runs steps on PostgreSQL: one that reads outside any transaction, one that writes in a transaction of its own.

import type { Ask, Effect, Statement, Step, Steps } from '../../steps.ts'
import type { PostgresDatabase, Session } from './database.ts'

export type StepsOptions = Pick<PostgresDatabase, 'read' | 'transact'> & {
  /** Called after a commit that made files due. */
  onDue: () => void
}

export function createSteps({ read, transact, onDue }: StepsOptions): Steps {
  async function write<T>(step: () => Step<T>, { within }: { within?: number } = {}): Promise<T> {
    const effects = new Set<Effect>()
    const work = (session: Session) => drive(step(), session, effects)
    const value = await transact(work, within === undefined ? {} : { within })
    if (effects.has('due')) onDue()
    return value
  }

  return { read: (step) => read((session) => drive(step(), session)), write }
}

/** Runs a step within a transaction that something else began. Sends what nobody waits for without waiting for its answer. */
export async function drive<T>(
  step: Step<T>,
  session: Pick<Session, 'query'>,
  effects?: Set<Effect>,
): Promise<T> {
  const sent: Promise<unknown>[] = []
  try {
    let next = step.next()
    while (!next.done) {
      const { effect } = next.value.statement
      if (effect !== null) effects?.add(effect)
      const answer = ask(session, next.value)
      if (next.value.isBlind) sent.push(answer)
      // It is awaited below. A rejection before that must not count as unhandled.
      answer.catch(() => undefined)
      next = step.next(next.value.isBlind ? [] : await answer)
    }
    await Promise.all(sent)
    return next.value
  } catch (cause) {
    // After a failure the statements that follow see only that their transaction is aborted.
    const failed = (await Promise.allSettled(sent)).find((one) => one.status === 'rejected')
    throw failed?.reason ?? cause
  }
}

async function ask(
  { query }: Pick<Session, 'query'>,
  { statement, values }: Ask,
): Promise<readonly unknown[]> {
  const rows = await query<Record<string, unknown>>(textOf(statement), values)
  // Bun returns numbers of 64 bits as texts. Ids and times stay far below 2^53.
  for (const row of rows)
    for (const name of statement.numbers) if (typeof row[name] === 'string') row[name] = Number(row[name])
  return rows
}

function textOf({ text, suffix }: Statement<unknown>): string {
  return suffix === '' ? text : `${text} ${suffix}`
}
