// Rows that the nodes of an instance share. Names are keyed hashes, because some contain the address that a
// person typed.

import { hashAddress } from '../crypto/digest.ts'
import { DomainError } from '../domain/errors.ts'
import { TRIES_APART } from '../domain/events.ts'
import type { PageNonce } from '../domain/page-nonce.ts'
import { codesAllowed } from '../domain/push.ts'
import { DAY, HOUR, MINUTE } from '../domain/time.ts'
import type { Budget, BudgetAttempt, BudgetDecision, BudgetState } from './shared-contract.ts'
import { forSome, insertUnlessThere, type RowOf, select, statement } from './statements.ts'
import { all, has, type Parts, run, type Step } from './steps.ts'
import { spentPoints } from './tables.ts'

/** How many rows one step removes. */
const SOME = 1_000
/** An upper bound on the difference between the clocks of two nodes, which both follow the database's. */
const CLOCK_SLACK = MINUTE
/** Longer than the clocks of nodes can differ. */
const MARGIN = HOUR
/** The maximum number of budgets that are counted in memory, about 100 bytes each. */
const MOST_UNSTORED = 10_000

type SpentRow = RowOf<typeof spentPoints>

const SPENT = forSome((names) => select(spentPoints, `WHERE name IN (${names})`))
/**
 * Locks a budget. Creates a missing row, because only an existing one can be locked. The update changes
 * nothing; it only locks.
 */
const LOCK_SPENT = statement(
  `INSERT INTO spent_points (name, points, until) VALUES ($1, 0, 0)
  ON CONFLICT (name) DO UPDATE SET points = spent_points.points`,
)
const SPEND = statement('UPDATE spent_points SET points = $2, until = $3 WHERE name = $1')
const GIVE_BACK = statement(
  `UPDATE spent_points SET points = CASE WHEN points > $3 THEN points - $3 ELSE 0 END
  WHERE name = $1 AND until = $2`,
)
const insert = insertUnlessThere(spentPoints)
const IS_SPENT = statement('SELECT 1 FROM spent_points WHERE name = $1')
/** How long after the last wrong code their number is remembered. */
const CODES_KEPT_FOR = 90 * DAY
const COUNT = statement(
  `INSERT INTO spent_points (name, points, until) VALUES ($1, $2, $3)
  ON CONFLICT (name) DO UPDATE SET points = excluded.points, until = excluded.until`,
)
const NOTE_TRY = statement(
  `INSERT INTO spent_points (name, points, until) VALUES ($1, 1, $2)
  ON CONFLICT (name) DO UPDATE SET until = excluded.until
  WHERE spent_points.until <= $3 OR spent_points.until > $4 RETURNING 1 AS one`,
)
const REMOVE_LAPSED = statement<{ name: string }>(
  `DELETE FROM spent_points WHERE name IN (SELECT name FROM spent_points WHERE until <= $1 ORDER BY until LIMIT ${SOME})
    RETURNING name`,
)

export function createSharedState(parts: Pick<Parts, 'steps' | 'keyring' | 'now' | 'hasRoom' | 'onError'>) {
  const { steps, keyring, now, hasRoom, onError } = parts
  const { read, write } = steps
  /**
   * Budgets that are counted in memory while the disk has no room for rows. This happens only with a data
   * folder, which has no other nodes.
   */
  const unstored = new Map<string, SpentRow>()

  // Nodes that seal under different keys count separately.
  const hashName = ({ name }: { name: string }) =>
    hashAddress(`shared ${name}`, keyring.sealing.addresses).toString('base64url')

  function stateOf(budget: Budget, rows: readonly SpentRow[]): BudgetState {
    const time = now()
    const name = hashName(budget)
    const kept = unstored.get(name)
    const [row] = (kept === undefined ? rows : [...rows, kept])
      .filter((one) => one.name === name && isCurrent({ ...one, window: budget.window }, time))
      .sort((one, other) => other.points - one.points)
    return row === undefined
      ? { ...budget, spent: 0, until: time + budget.window }
      : { ...budget, spent: row.points, until: row.until }
  }

  const budgetsOf = ({ counts, looks = [] }: BudgetAttempt) => [...counts, ...looks]
  const findRows = (attempt: BudgetAttempt) => SPENT(budgetsOf(attempt).map(hashName))

  function decide(attempt: BudgetAttempt, rows: readonly SpentRow[]): BudgetDecision {
    const states = budgetsOf(attempt).map((budget) => stateOf(budget, rows))
    return { refusedBy: attempt.refuse(states), states }
  }

  /** Counts a try. Locks the rows by name, in the same order on every node, before it reads them. */
  function* take(attempt: BudgetAttempt): Step<BudgetDecision> {
    for (const name of attempt.counts.map(hashName).sort()) yield* run(LOCK_SPENT, name)
    const decision = decide(attempt, yield* findRows(attempt))
    if (decision.refusedBy !== null) return decision
    for (const state of decision.states.slice(0, attempt.counts.length))
      yield* run(SPEND, hashName(state), state.spent + (state.cost ?? 1), state.until)
    return decision
  }

  /** Counts in memory. Drops the oldest budgets if there are too many. */
  function countUnstored(states: readonly BudgetState[]): void {
    for (const state of states) {
      const name = hashName(state)
      unstored.delete(name)
      unstored.set(name, { name, points: state.spent + (state.cost ?? 1), until: state.until })
    }
    for (const [oldest] of unstored) if (unstored.size > MOST_UNSTORED) unstored.delete(oldest)
  }

  function* giveBack(states: readonly BudgetState[]): Step<void> {
    const ordered = states.map((state) => ({ ...state, name: hashName(state) }))
    ordered.sort((one, other) => (one.name < other.name ? -1 : 1))
    for (const { name, until, cost = 1 } of ordered) yield* run(GIVE_BACK, name, until, cost)
  }

  return {
    budgets: {
      /**
       * Counts a try in all of its budgets; in none if it is refused. Tries run one after another, across
       * nodes too.
       */
      // Check first without a lock, so that a flood of refused tries writes nothing.
      take: async (attempt: BudgetAttempt): Promise<BudgetDecision> => {
        const rows = await read(
          () => findRows(attempt),
          (found) => decide(attempt, found).refusedBy === null,
        )
        const seen = decide(attempt, rows)
        if (seen.refusedBy !== null) return seen
        if (hasRoom()) return write(() => take(attempt))
        countUnstored(seen.states.slice(0, attempt.counts.length))
        return seen
      },
      /**
       * Takes back the cost of an attempt in these budgets, unless their windows have ended. Never throws.
       */
      giveBack: (states: readonly BudgetState[]): Promise<void> => {
        for (const state of states) {
          const kept = unstored.get(hashName(state))
          if (kept?.until === state.until) kept.points = Math.max(0, kept.points - (state.cost ?? 1))
        }
        return write(() => giveBack(states)).catch(onError)
      },
    },
    nonces: {
      /** Whether the nonce was spent, on any node. Writes nothing. */
      isSpent: (text: string) =>
        read(
          () => has(IS_SPENT, nameOf(text)),
          (isSpent) => !isSpent,
        ),
    },
    /** Removes some lapsed rows and resolves to their number. */
    removeLapsed: async () => (await write(() => all(REMOVE_LAPSED, now() - MARGIN))).length,
  }
}

const nameOf = (nonce: string) => `nonce ${nonce}`

/**
 * Uses up a nonce. Call it under the lock of the guarded row. Throws `conflict` for a nonce that was used
 * before, on any node.
 */
export function* spendNonce({ text, lapsesAt }: PageNonce): Step<void> {
  if ((yield* insert({ name: nameOf(text), points: 1, until: lapsesAt })) === null)
    throw new DomainError('conflict', 'This form was sent before.')
}

/** Records when something ended. Kept for an hour. */
export const noteEnd = (name: string, at: number): Step<void> => run(COUNT, `ended ${name}`, 1, at)

/** Whether one of these has ended after `since`. */
export function* hasEnded(names: readonly string[], since: number): Step<boolean> {
  return (yield* SPENT(names.map((name) => `ended ${name}`))).some(({ until }) => until > since)
}

/**
 * Notes a try on a push that has ended. Returns whether it is the first of its window. Call it under the lock
 * of the push.
 */
export function isFirstTry(pushId: number, now: number): Step<boolean> {
  return has(NOTE_TRY, `tried ${pushId}`, now + TRIES_APART, now, now + TRIES_APART + CLOCK_SLACK)
}

type CodeTry = { pushId: number; isRight: boolean; now: number }

/**
 * Counts a wrong code. Returns the milliseconds for which no code is accepted; 0 if this one was checked.
 * Call it under the lock of the push.
 */
export function* tryCode({ pushId, isRight, now }: CodeTry): Step<number> {
  const names = { minute: `code ${pushId}`, inAll: `codes ${pushId}` }
  const rows = yield* SPENT(Object.values(names))
  const minute = rows.find((row) => row.name === names.minute && isCurrent({ ...row, window: MINUTE }, now))
  const { points: inAll } = rows.find(({ name }) => name === names.inAll) ?? { points: 0 }
  if (minute !== undefined && minute.points >= codesAllowed(inAll)) return minute.until - now
  if (isRight) return 0
  yield* run(COUNT, names.minute, (minute?.points ?? 0) + 1, minute?.until ?? now + MINUTE)
  yield* run(COUNT, names.inAll, inAll + 1, now + CODES_KEPT_FOR)
  return 0
}

/**
 * Whether a window is still open. One that ends later than a new one would was set while the clock was ahead.
 */
function isCurrent({ until, window }: Pick<BudgetState, 'until' | 'window'>, time: number): boolean {
  return until > time && until <= time + window + CLOCK_SLACK
}
