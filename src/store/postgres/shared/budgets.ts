// Budgets as rows. The names are keyed hashes, because some contain what people typed as their address.

import { MINUTE, type Now } from '../../../domain/time.ts'
import { isCurrent } from '../../../domain/windowed-counts.ts'
import type { Budget, BudgetAttempt, BudgetDecision, BudgetState } from '../../shared-face.ts'
import type { Read, Session, Transact } from '../engine/database.ts'

export type BudgetsOptions = {
  read: Read
  transact: Transact
  now: Now
  /** A name as it is stored. */
  hashName: (name: string) => string
  onError: (cause: unknown) => void
}

/** Nodes take the time from the database, and are apart by far less. */
const CLOCK_SLACK = MINUTE

type Row = { name: string; points: number; until: number }

/** The answer to a try that is decided already waits for this. */
const WITHIN = { within: 1_000 }

const MAX_OWED = 1_000

const COLUMNS = 'name, points, until::float8 AS until'

export function createBudgetRows({ read, transact, now, hashName, onError }: BudgetsOptions) {
  /** Tries to give back. */
  const owed: BudgetState[] = []

  function statesOf(budgets: readonly Budget[], rows: readonly Row[]): BudgetState[] {
    const time = now()
    const found = new Map(rows.map((row) => [row.name, row]))
    return budgets.map((budget) => {
      const row = found.get(hashName(budget.name))
      const isCounting = row !== undefined && isCurrent({ ...row, ...budget, slack: CLOCK_SLACK }, time)
      return isCounting
        ? { ...budget, spent: row.points, until: row.until }
        : { ...budget, spent: 0, until: time + budget.window }
    })
  }

  /** Looks first without a lock, so that a flood of refused tries writes nothing. */
  async function take(attempt: BudgetAttempt): Promise<BudgetDecision> {
    const seen = await read((session) => look(session, attempt))
    return seen.refusedBy === null ? transact((session) => takeLocked(session, attempt)) : seen
  }

  async function look(session: Session, { counts, looks = [], refuse }: BudgetAttempt) {
    const budgets = [...counts, ...looks]
    const rows = await session.query<Row>(
      `SELECT ${COLUMNS} FROM spent_points WHERE name = ANY($1::text[])`,
      [budgets.map(({ name }) => hashName(name))],
    )
    const states = statesOf(budgets, rows)
    return { refusedBy: refuse(states), states }
  }

  /** The rows that it counts in are locked before it looks, in the order of their names, as every node does. */
  async function takeLocked(session: Session, attempt: BudgetAttempt): Promise<BudgetDecision> {
    await session.query(LOCK, [attempt.counts.map(({ name }) => hashName(name)).sort()])
    const { refusedBy, states } = await look(session, attempt)
    if (refusedBy !== null) return { refusedBy, states }
    const counted = states.slice(0, attempt.counts.length)
    await session.query(SPEND, [
      counted.map(({ name }) => hashName(name)),
      counted.map(({ spent }) => spent + 1),
      counted.map(({ until }) => until),
    ])
    return { refusedBy, states }
  }

  async function giveBack(states: readonly BudgetState[]): Promise<void> {
    await giveBackNow(states).catch((cause) => {
      onError(cause)
      if (owed.length < MAX_OWED) owed.push(...states)
    })
  }

  /** Gives back what could not be given back while the database did not answer. */
  async function settle(): Promise<void> {
    if (owed.length === 0) return
    const states = [...owed]
    await giveBackNow(states)
    owed.splice(0, states.length)
  }

  async function giveBackNow(states: readonly BudgetState[]): Promise<void> {
    const ordered = states
      .map(({ name, until }) => ({ name: hashName(name), until }))
      .sort((one, other) => (one.name < other.name ? -1 : 1))
    const values = [ordered.map(({ name }) => name), ordered.map(({ until }) => until)]
    await transact((session) => session.query(GIVE_BACK, values), WITHIN)
  }

  return { take, giveBack, settle }
}

/** Inserts the rows that are missing, because only an existing row can be locked. */
const LOCK = `
  INSERT INTO spent_points (name, points, until) SELECT name, 0, 0 FROM unnest($1::text[]) AS name
  ON CONFLICT (name) DO UPDATE SET points = spent_points.points`

const SPEND = `
  UPDATE spent_points SET points = given.points, until = given.until
  FROM unnest($1::text[], $2::int[], $3::bigint[]) AS given(name, points, until)
  WHERE spent_points.name = given.name`

const GIVE_BACK = `
  WITH owed AS (
    SELECT name, until, count(*)::int AS tries FROM unnest($1::text[], $2::bigint[]) AS given(name, until)
    GROUP BY name, until
  ), locked AS (
    SELECT s.name, owed.tries FROM spent_points s JOIN owed ON s.name = owed.name AND s.until = owed.until
    ORDER BY s.name FOR UPDATE OF s
  )
  UPDATE spent_points SET points = greatest(0, spent_points.points - locked.tries)
  FROM locked WHERE spent_points.name = locked.name`
