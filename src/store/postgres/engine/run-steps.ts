// Runs steps on PostgreSQL: reads outside any transaction, each write in its own transaction.

import {
  type Alone,
  type Ask,
  type Effect,
  type Glance,
  LAST_ID,
  type Statement,
  type Step,
  type Steps,
} from '../../steps.ts'
import type { PostgresDatabase, PostgresTransaction } from './database.ts'
import type { PostgresSession } from './session.ts'

type StepsOptions = Pick<PostgresDatabase, 'read' | 'transact'> & {
  /** Called after a commit with each of its effects. */
  onEffect: (effect: Effect) => void
}

export function createSteps({ read, transact, onEffect }: StepsOptions): Steps & { glance: Glance } {
  async function write<T>(step: () => Step<T>, { within }: { within?: number } = {}): Promise<T> {
    const effects = new Set<Effect>()
    const work = (session: PostgresTransaction) => drive(step(), session, effects)
    const value = await transact(work, within === undefined ? {} : { within })
    effects.forEach(onEffect)
    return value
  }

  // Reads need not wait: PostgreSQL shows no commit to others before it is durable.
  const glance: Glance = (step) => read((session) => drive(step(), session))
  return { read: glance, glance, write, isRemote: true }
}

/** `enter` throws while another process uses the rows. `within`: the timeout in milliseconds. */
export function createAlone({
  transact,
  enter,
  within,
}: Pick<PostgresDatabase, 'transact'> & {
  enter: (session: PostgresSession) => Promise<unknown>
  within: number
}): Alone {
  return (work) =>
    transact(
      async (session) => {
        await enter(session)
        return work((step) => drive(step, session))
      },
      { within },
    )
}

/**
 * Runs a step within an open transaction. Sends blind statements without waiting for their answers.
 */
export async function drive<T>(
  step: Step<T>,
  session: PostgresSession & Partial<PostgresTransaction>,
  effects?: Set<Effect>,
): Promise<T> {
  const { send, query } = session
  const answer = (one: Ask): Promise<readonly unknown[]> => {
    note(one, effects)
    return query(textOf(one.statement), one.values)
  }
  let next = step.next()
  while (!next.done) {
    const { statement, values, isBlind, also } = next.value
    if (isBlind && send !== undefined) {
      note(next.value, effects)
      send(textOf(statement), values)
      next = step.next(NO_ROWS)
    } else if (also === undefined) next = step.next(await answer(next.value))
    else next = step.next(await Promise.all([next.value, ...also].map(answer)))
  }
  return next.value
}

const NO_ROWS: readonly unknown[] = []

function note({ statement: { effect } }: Ask, effects: Set<Effect> | undefined): void {
  if (effect !== null) effects?.add(effect)
}

const texts = new WeakMap<Statement<unknown>, string>()

function textOf(statement: Statement<unknown>): string {
  const known = texts.get(statement)
  if (known !== undefined) return known
  const text = `${statement.text} ${statement.suffix}`.trimEnd().replaceAll(LAST_ID, 'lastval()')
  texts.set(statement, text)
  return text
}
