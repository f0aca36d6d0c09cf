// An operation on rows, written once for every engine: a step is a generator that yields statements and
// receives their rows.
//
// SQLite runs a step at once, PostgreSQL awaits each statement; one that writes is a transaction as a whole.
// A step may run several times, so it has no effects outside the database. It never catches the failure of a
// statement.

import type { Keyring } from '../crypto/keyring.ts'
import type { Trusted } from '../domain/clock.ts'
import type { Now } from '../domain/time.ts'

export type Value = string | number | boolean | null | Uint8Array

/**
 * A statement with parameters $1, $2, …; `Row` is the type of a result row. Column names of several words are
 * quoted.
 */
export type Statement<Row> = {
  text: string
  /** Text that is appended only on PostgreSQL: a lock, or the return of `id`. */
  suffix: string
  /** The column of the id that an inserted row gets, which SQLite reports by itself. */
  id: string | null
  /** The effect once the transaction is durable; null for none. */
  effect: Effect | null
  /** Never set. It carries the type of the rows. */
  row?: Row
}

/**
 * The id of the row inserted by the statement before, in SQLite's words; the runner of PostgreSQL translates
 * it.
 */
export const LAST_ID = 'last_insert_rowid()'

/**
 * `destroyed`: secrets or a sealed answer were deleted. `due`: files are due for removal. `queued`: the
 * outbox may have new messages.
 */
export type Effect = 'destroyed' | 'due' | 'queued'

/**
 * A request of a step to run a statement. `isBlind`: do not wait for its rows. `also`: further statements to
 * send with it; the answer then holds the rows of each.
 */
export type Ask = OneAsk & { also?: readonly OneAsk[] }
type OneAsk = { statement: Statement<unknown>; values: readonly Value[]; isBlind: boolean }

export type Step<T> = IterableIterator<Ask, T, readonly unknown[]>

/**
 * The step of one statement. Written by hand, because a generator for each statement took a tenth of the time
 * of a visit.
 */
class One<T> implements Step<T> {
  readonly ask: Ask
  readonly resultOf: (rows: readonly unknown[]) => T
  private isAsked = false

  constructor(ask: Ask, resultOf: (rows: readonly unknown[]) => T) {
    this.ask = ask
    this.resultOf = resultOf
  }

  [Symbol.iterator](): Step<T> {
    return this
  }

  next(rows: readonly unknown[] = []): IteratorResult<Ask, T> {
    if (this.isAsked) return { value: this.resultOf(rows), done: true }
    this.isAsked = true
    return { value: this.ask, done: false }
  }
}

/** Runs steps. May throw `overloaded` and `disk_full`, and then nothing has happened. */
export type Steps = {
  /**
   * Runs a read-only step, and resolves once everything that it may have read is durable. Does not wait for a
   * result that `isLive`: one that reports nothing as ended, used or gone, so that a power cut cannot make it
   * wrong.
   */
  read<T>(step: () => Step<T>, isLive?: (found: T) => boolean): Promise<T>
  /** Runs a step in one transaction and resolves once it is durable. */
  write<T>(step: () => Step<T>, options?: WriteOptions): Promise<T>
  /** Whether another process runs the statements, so that each costs a round trip. */
  isRemote?: boolean
}

/**
 * Runs a read-only step without waiting for the disk. Only for health checks, which must answer while a disk
 * hangs: a power cut may undo what it saw.
 */
export type Glance = <T>(step: () => Step<T>) => Promise<T>

/** Runs a step within an open transaction. */
export type Run = <T>(step: Step<T>) => Promise<T>

/**
 * Runs steps, with other code between them, in one transaction without concurrent changes. May run `work`
 * several times.
 */
export type Alone = <T>(work: (run: Run) => Promise<T>) => Promise<T>

/**
 * `grows`: the step stores something new, and is refused on a full disk or below the floor of free space.
 * `within`: the timeout in milliseconds, if it may take longer than a request.
 */
export type WriteOptions = { grows?: boolean; within?: number }

/** The parts from which operations are made. */
export type Parts = {
  steps: Steps
  glance: Glance
  now: Now
  trusted: Trusted
  keyring: Keyring
  /** The id of this process among those that serve the database. */
  node: Uint8Array
  /** How many setup links stay valid at once: each starting node makes one and prints it. */
  setupLinks: number
  /** Returns false while the disk has too little room for optional log entries. */
  hasRoom: () => boolean
  onError: (cause: unknown) => void
}

// Statements declare the columns of their rows; the type system cannot follow.
const allOf = (rows: readonly unknown[]) => rows as never[]
const firstOf = (rows: readonly unknown[]) => (rows[0] ?? null) as never
const isAny = (rows: readonly unknown[]) => rows.length > 0
const onlyOf = (rows: readonly unknown[]) => {
  if (rows.length === 0) throw new Error('a statement that always has a row had none')
  return rows[0] as never
}
const nothingOf = () => undefined

/** Yields a statement and returns all rows. */
export function all<Row>(statement: Statement<Row>, ...values: Value[]): Step<Row[]> {
  return new One<Row[]>({ statement, values, isBlind: false }, allOf)
}

/** Yields a statement and returns the first row, or null. */
export function first<Row>(statement: Statement<Row>, ...values: Value[]): One<Row | null> {
  return new One<Row | null>({ statement, values, isBlind: false }, firstOf)
}

/** Whether a write with RETURNING affected a row. */
export function affected(statement: Statement<unknown>, ...values: Value[]): One<boolean> {
  return has(statement, ...values)
}

/** Whether the statement finds a row. */
export function has(statement: Statement<unknown>, ...values: Value[]): One<boolean> {
  return new One<boolean>({ statement, values, isBlind: false }, isAny)
}

/** Yields a statement and returns its only row, which must exist. */
export function only<Row>(statement: Statement<Row>, ...values: Value[]): One<Row> {
  return new One<Row>({ statement, values, isBlind: false }, onlyOf)
}

/** Yields several independent statements at once, and returns their results. */
export function together<T extends readonly [unknown, ...unknown[]]>(
  ...ones: { [N in keyof T]: One<T[N]> }
): Step<T> {
  const [{ ask }, ...others]: readonly [One<unknown>, ...One<unknown>[]] = ones
  const resultsOf = (rows: readonly unknown[]) => ones.map(({ resultOf }, n) => resultOf(rows[n] as never))
  return new One<T>({ ...ask, also: others.map((one) => one.ask) }, resultsOf as never)
}

/** Yields a statement without rows. Its failure may surface later, at the end of the step. */
export function run(statement: Statement<unknown>, ...values: Value[]): Step<void> {
  return blindly(statement, values)
}

export function blindly(statement: Statement<unknown>, values: readonly Value[]): Step<void> {
  return new One<void>({ statement, values, isBlind: true }, nothingOf)
}

/**
 * Passed as `isLive` to a read: a row that was found has not ended, so the read need not wait for the disk.
 */
export function isThere<T>(found: T | null): boolean {
  return found !== null
}

/** Lets other requests run between two parts of a long operation. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
