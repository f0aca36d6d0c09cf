// What the nodes of one instance share while they serve: counts of tries, used nonces, turns and offers. No push depends on
// it, and all of it lapses by itself. One process that serves alone keeps it in memory.

/** At most `tries` under a name, in a window of milliseconds that begins with the first of them. */
export type Budget = { name: string; tries: number; window: number }

/** A budget before a try: `spent` of it, until the window ends at `until`. */
export type BudgetState = Budget & { spent: number; until: number }

export type BudgetAttempt = {
  /** The budgets in which this try counts. */
  counts: readonly Budget[]
  /** Others that `refuse` looks at. */
  looks?: readonly Budget[]
  /** Names the budget that refuses the try, if one does. Is given `counts`, then `looks`. May be called several times. */
  refuse: (states: readonly BudgetState[]) => BudgetState | null
}

/** A try as it was decided; `states` are those of `counts`, then of `looks`, before it. */
export type BudgetDecision = { refusedBy: BudgetState | null; states: readonly BudgetState[] }

export type BudgetStore = {
  /** Counts a try in all of its budgets, or in none when it is refused. No two tries see the same state, on any node. */
  take(attempt: BudgetAttempt): Promise<BudgetDecision>
  /** Takes the tries back in these budgets, unless their windows have ended. Never throws. */
  giveBack(states: readonly BudgetState[]): Promise<void>
}

export type NonceStore = {
  /** Keys that authenticate nonces, the first for new ones. They last as long as the used ones are remembered. */
  keys: readonly [Uint8Array, ...Uint8Array[]]
  /** False when the nonce was used before, on any node. */
  use(used: { nonce: string; lapsesAt: number }): Promise<boolean>
}

/** `since`: when somebody began to wait for it, by `performance.now()`. */
export type Turn = { name: string; since: number }

export type TurnStore = {
  /**
   * Runs work of this name on one node at a time; each node has its own queue before it. Throws `overloaded` when the turn does
   * not come in time, and when it was lost during the work, whose result is then not told. `hasWaited` is true when another
   * node may have worked since the call.
   */
  inTurn<T>(turn: Turn, work: (hasWaited: boolean) => Promise<T>): Promise<T>
}

/** A secret that a page offers for an authenticator app, sealed. */
export type Offer = { session: number; sealed: Uint8Array; until: number }

export type OfferStore = {
  /** Keeps the offer, unless the session has one that has not lapsed. Resolves to the sealed secret that is in effect. */
  keep(offer: Offer): Promise<Uint8Array>
  /** Never throws: what stays lapses by itself. */
  forget(session: number): Promise<void>
}

/** A kind of counts, in windows of milliseconds. Counts of a name are told to other nodes from `least` on. */
export type Exchanged = { kind: string; window: number; least: number }

/** Counts that nodes tell each other about every second. They are approximate, and nobody waits for them. */
export type CountExchange = {
  /** Notes one here. */
  note(name: string): void
  /** What the other nodes have told about the window under way. */
  others(name: string): number
}

export type SharedState = {
  budgets: BudgetStore
  nonces: NonceStore
  turns: TurnStore
  offers: OfferStore
  /** Called once for each kind. */
  exchange(kind: Exchanged): CountExchange
}

/** Whether this process has the instance keys of all that serve the same rows. Both functions look at nothing but its memory. */
export type SharedKeys = {
  /**
   * Throws `overloaded` while others may seal under a key that this process lacks. Call it before saying that something does not
   * exist or was not sealed here: another process may know it.
   */
  requireAll(): void
  /** Throws `overloaded` while others could not open what this process seals. */
  requireShared(): void
}

/** Those of one process that serves alone. */
export const OWN_KEYS: SharedKeys = { requireAll: () => undefined, requireShared: () => undefined }
