// What nodes share, for a process that serves alone: it ends with the process.

import type { Now } from '../../domain/time.ts'
import type { SharedState } from '../shared-face.ts'
import { createMemoryBudgets } from './budgets.ts'
import { createMemoryNonces } from './nonces.ts'
import { createMemoryOffers } from './offers.ts'
import { memoryTurns } from './turns.ts'

export function createMemoryState(now: Now): SharedState {
  return {
    budgets: createMemoryBudgets(now),
    nonces: createMemoryNonces(),
    turns: memoryTurns,
    offers: createMemoryOffers(now),
    exchange: () => ({ note: () => undefined, others: () => 0 }),
  }
}
