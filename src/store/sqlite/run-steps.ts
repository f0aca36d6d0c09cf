// Runs steps on SQLite: reads at once, writes within a batch of the group commit.

import type { Database, SQLQueryBindings } from 'bun:sqlite'
import { getTableColumns } from 'drizzle-orm'
import { refusalOf } from '../folder/sqlite-failures.ts'
import type { Alone, Ask, Effect, Glance, Statement, Step, Steps } from '../steps.ts'
import * as tables from '../tables.ts'
import type { CommitOptions, Transact } from './group-commit.ts'

type Bindings = SQLQueryBindings[]
type Prepared = (values: Bindings) => Record<string, unknown>[]

/**
 * Runs a step synchronously, within the caller's transaction or outside any. Calls `note` with its effects.
 */
export type Drive = <T>(step: Step<T>, note?: OnEffect) => T

/** Called with the effects of a change, once it is durable. */
export type OnEffect = (effect: Effect) => void

export function createDrive(database: Database): Drive {
  const known = new Map<Statement<unknown>, Prepared>()

  function ask({ statement, values }: Ask, note?: OnEffect): readonly unknown[] {
    if (statement.effect !== null) note?.(statement.effect)
    let prepared = known.get(statement)
    if (prepared === undefined) {
      prepared = prepare(database, statement)
      known.set(statement, prepared)
    }
    // Bytes come as Uint8Array; Bun binds every view of an ArrayBuffer.
    return prepared(values as Bindings)
  }

  function drive<T>(step: Step<T>, note?: OnEffect): T {
    let next = step.next()
    while (!next.done) {
      const { also } = next.value
      const rows = ask(next.value, note)
      next = step.next(also === undefined ? rows : [rows, ...also.map((one) => ask(one, note))])
    }
    return next.value
  }

  return drive
}

/** Milliseconds that a command waits for another process. */
export const BUSY_MS = 5_000

/** Makes the steps of a command: each change is its own transaction, and waits for the disk. */
export function createCommandSteps(database: Database, drive: Drive): Steps {
  async function write<T>(step: () => Step<T>): Promise<T> {
    try {
      return database.transaction(() => drive(step())).immediate()
    } catch (cause) {
      throw refusalOf(cause)
    }
  }

  return { read: async (step) => drive(step()), write }
}

/** Runs the steps of a command alone: refuses any other change by this process meanwhile. */
export function createAlone(database: Database, drive: Drive): Alone {
  return async (work) => {
    if (database.inTransaction) throw new Error('another command runs alone')
    try {
      database.run(`PRAGMA busy_timeout = ${BUSY_MS}`)
      database.run('BEGIN IMMEDIATE')
      const value = await work(async (step) => drive(step))
      database.run('COMMIT')
      return value
    } catch (cause) {
      if (database.inTransaction) database.run('ROLLBACK')
      throw refusalOf(cause)
    }
  }
}

type StepsOptions = {
  drive: Drive
  transact: Transact
  onEffect: OnEffect
  /** Resolves once what was committed so far is durable. */
  settled?: () => Promise<void>
  /**
   * Checks the free space. Throws `disk_full` below the floor. Returns null if there is nothing to wait for.
   */
  requireFloor?: () => Promise<void> | null
}

export function createSteps({
  drive,
  transact,
  onEffect,
  settled = async () => undefined,
  requireFloor = () => null,
}: StepsOptions): Steps & { glance: Glance } {
  const glance: Glance = async (step) => drive(step())

  async function read<T>(step: () => Step<T>, isLive?: (found: T) => boolean): Promise<T> {
    const found = drive(step())
    if (isLive?.(found) !== true) await settled()
    return found
  }

  async function write<T>(step: () => Step<T>, options?: CommitOptions): Promise<T> {
    const measured = options?.grows ? requireFloor() : null
    if (measured !== null) await measured
    let effects: Set<Effect> | undefined
    const note = (effect: Effect) => {
      effects ??= new Set()
      effects.add(effect)
    }
    const value = await transact(() => drive(step(), note), options)
    effects?.forEach(onEffect)
    return value
  }

  return { read, glance, write }
}

/** The names of all boolean columns, which SQLite stores as 1 and 0. A name means the same in each table. */
const FLAGS = new Set(
  Object.values(tables).flatMap((table) =>
    Object.entries(getTableColumns(table)).flatMap(([name, { dataType }]) =>
      dataType === 'boolean' ? name : [],
    ),
  ),
)

function prepare(database: Database, { text, id }: Statement<unknown>): Prepared {
  const statement = database.prepare<Record<string, unknown>, Bindings>(text.replace(/\$(\d+)/g, PARAMETER))
  // RETURNING would take longer than the insert.
  if (id !== null) return (values) => [{ [id]: Number(statement.run(...values).lastInsertRowid) }]
  if (statement.columnNames.length === 0)
    return (values) => {
      statement.run(...values)
      return NO_ROWS
    }
  const flags = statement.columnNames.filter((name) => FLAGS.has(name))
  return (values) => {
    const rows = statement.all(...values)
    for (const row of rows)
      for (const flag of flags) if (typeof row[flag] === 'number') row[flag] = row[flag] === 1
    return rows
  }
}

/**
 * Replaces a parameter by one with a plus sign. Without it, SQLite plans a statement with several tables anew
 * for each bound value, which takes five times as long.
 */
const PARAMETER = '+?$1'
const NO_ROWS: Record<string, unknown>[] = []
