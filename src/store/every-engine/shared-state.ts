// What the nodes of an instance share, as rows. Names are keyed hashes, because some contain what people typed as their address.

import { hashAddress } from '../../crypto/digest.ts'
import { HOUR, MINUTE } from '../../domain/time.ts'
import type { Budget, BudgetAttempt, BudgetDecision, BudgetState, SharedState } from '../shared-face.ts'
import { forSome, insertUnlessThere, type RowOf, select, statement } from '../statements.ts'
import { all, type Parts, run, type Step } from '../steps.ts'
import { spentPoints } from '../tables.ts'

/** Rows that one step removes. */
const SOME = 1_000
/** Nodes take the time from the database, and are apart by far less. */
const CLOCK_SLACK = MINUTE
/** Longer than the clocks of nodes can differ. */
const MARGIN = HOUR

type Spent = RowOf<typeof spentPoints>

const SPENT = forSome((names) => select(spentPoints, `WHERE name IN (${names})`))
/** Makes a row that is missing, because only an existing one can be locked. The update changes nothing but locks. */
const LOCK_SPENT = statement(
  `INSERT INTO spent_points (name, points, until) VALUES ($1, 0, 0)
  ON CONFLICT (name) DO UPDATE SET points = spent_points.points`,
)
const SPEND = statement('UPDATE spent_points SET points = $2, until = $3 WHERE name = $1')
const GIVE_BACK = statement(
  'UPDATE spent_points SET points = points - 1 WHERE name = $1 AND until = $2 AND points > 0',
)
const use = insertUnlessThere(spentPoints)
const REMOVE_LAPSED = statement<{ name: string }>(
  `DELETE FROM spent_points WHERE name IN (SELECT name FROM spent_points WHERE until <= $1 ORDER BY until LIMIT ${SOME})
    RETURNING name`,
)

export function createSharedState({
  steps,
  keyring,
  now,
  onError,
}: Pick<Parts, 'steps' | 'keyring' | 'now' | 'onError'>): SharedState {
  const { read, write } = steps

  // Nodes that seal under different keys count by themselves.
  const hashName = ({ name }: { name: string }) =>
    hashAddress(`shared ${name}`, keyring.sealing.addresses).toString('base64url')

  function stateOf(budget: Budget, rows: readonly Spent[]): BudgetState {
    const time = now()
    const name = hashName(budget)
    const row = rows.find((one) => one.name === name)
    const isCounting = row !== undefined && isCurrent({ ...row, ...budget }, time)
    return isCounting
      ? { ...budget, spent: row.points, until: row.until }
      : { ...budget, spent: 0, until: time + budget.window }
  }

  function* look({ counts, looks = [], refuse }: BudgetAttempt): Step<BudgetDecision> {
    const budgets = [...counts, ...looks]
    const rows = yield* SPENT(budgets.map(hashName))
    const states = budgets.map((budget) => stateOf(budget, rows))
    return { refusedBy: refuse(states), states }
  }

  /** The rows that it counts in are locked before it looks, in the order of their names, as every node does. */
  function* take(attempt: BudgetAttempt): Step<BudgetDecision> {
    for (const name of attempt.counts.map(hashName).sort()) yield* run(LOCK_SPENT, name)
    const decision = yield* look(attempt)
    if (decision.refusedBy !== null) return decision
    for (const state of decision.states.slice(0, attempt.counts.length))
      yield* run(SPEND, hashName(state), state.spent + (state.cost ?? 1), state.until)
    return decision
  }

  function* giveBack(states: readonly BudgetState[]): Step<void> {
    const ordered = states.map((state) => ({ ...state, name: hashName(state) }))
    ordered.sort((one, other) => (one.name < other.name ? -1 : 1))
    for (const { name, until } of ordered) yield* run(GIVE_BACK, name, until)
  }

  return {
    budgets: {
      // Looks first without a lock, so that a flood of refused tries writes nothing.
      take: async (attempt) => {
        const seen = await read(
          () => look(attempt),
          ({ refusedBy }) => refusedBy === null,
        )
        return seen.refusedBy === null ? write(() => take(attempt)) : seen
      },
      giveBack: (states) => write(() => giveBack(states)).catch(onError),
    },
    nonces: {
      use: async ({ nonce, lapsesAt }) =>
        (await write(() => use({ name: `nonce ${nonce}`, points: 1, until: lapsesAt }))) !== null,
    },
    removeLapsed: async () => (await write(() => all(REMOVE_LAPSED, now() - MARGIN))).length,
  }
}

/** Whether a window has not ended yet. An end more than a window away was set while the clock was ahead. */
function isCurrent({ until, window }: Pick<BudgetState, 'until' | 'window'>, time: number): boolean {
  return until > time && until <= time + window + CLOCK_SLACK
}
