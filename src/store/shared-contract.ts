// Budgets: limited numbers of tries, which all nodes of one instance share. No push depends on them, and all
// of them lapse by themselves.

/** At most `tries` under a name, in a window of milliseconds that begins with the first of them. */
export type Budget = {
  name: string
  tries: number
  window: number /** Tries that one attempt takes; 1 when absent. */
  cost?: number
}

/** A budget before a try: `spent` of it, until the window ends at `until`. */
export type BudgetState = Budget & { spent: number; until: number }

export type BudgetAttempt = {
  /** The budgets in which this try counts. */
  counts: readonly Budget[]
  /** Others that `refuse` looks at. */
  looks?: readonly Budget[]
  /**
   * Names the budget that refuses the try, if one does. Is given `counts`, then `looks`. May be called
   * several times.
   */
  refuse: (states: readonly BudgetState[]) => BudgetState | null
}

/** A try as it was decided; `states` are those of `counts`, then of `looks`, before it. */
export type BudgetDecision = { refusedBy: BudgetState | null; states: readonly BudgetState[] }
