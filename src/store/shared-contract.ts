// Budgets: limited numbers of tries, which all nodes of one instance share. No push depends on them, and they
// expire by themselves.

/** Allows at most `tries` for one name within `window` milliseconds, which begin with the first try. */
export type Budget = {
  name: string
  tries: number
  window: number /** How many tries one attempt counts as; 1 if absent. */
  cost?: number
}

/** A budget before a try: the tries `spent`, and the end of the window. */
export type BudgetState = Budget & { spent: number; until: number }

export type BudgetAttempt = {
  /** The budgets that this try counts against. */
  counts: readonly Budget[]
  /** Other budgets that `refuse` takes into account. */
  looks?: readonly Budget[]
  /**
   * Returns the budget that refuses the try, or null. Receives the states of `counts`, then those of `looks`.
   * May be called several times.
   */
  refuse: (states: readonly BudgetState[]) => BudgetState | null
}

/** The decision on a try. `states`: the states before the try, first of `counts`, then of `looks`. */
export type BudgetDecision = { refusedBy: BudgetState | null; states: readonly BudgetState[] }
