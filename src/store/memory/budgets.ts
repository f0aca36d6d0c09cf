// Budgets of a process that serves alone.

import type { Now } from '../../domain/time.ts'
import { createWindowedCounts, type WindowedCounts } from '../../domain/windowed-counts.ts'
import type { Budget, BudgetStore } from '../shared-face.ts'

export function createMemoryBudgets(now: Now): BudgetStore {
  /** By window, because each keeps its counts in the order in which they lapse. */
  const countsBy = new Map<number, WindowedCounts>()

  function countsOf({ window }: Budget): WindowedCounts {
    const counts = countsBy.get(window) ?? createWindowedCounts({ window, now })
    countsBy.set(window, counts)
    return counts
  }

  const stateOf = (budget: Budget) => ({ ...budget, ...countsOf(budget).read(budget.name) })
  const spend = (budget: Budget) => ({ ...budget, ...countsOf(budget).spend(budget.name) })

  return {
    take: async ({ counts, looks = [], refuse }) => {
      const looked = looks.map(stateOf)
      const before = [...counts.map(stateOf), ...looked]
      const refusedBy = refuse(before)
      if (refusedBy !== null) return { refusedBy, states: before }
      return { refusedBy, states: [...counts.map(spend), ...looked] }
    },
    giveBack: async (states) => {
      for (const state of states) countsOf(state).giveBack(state.name, state)
    },
  }
}
