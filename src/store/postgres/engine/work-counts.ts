// Counts what happened over the connections since the start, for the operator.

import type { DatabaseCounts } from '../../database-face.ts'

export type WorkCounts = Omit<DatabaseCounts, 'connections'>

export function createWorkCounts() {
  const counts: WorkCounts = {
    ...{ reads: 0, transactions: 0, failures: 0, retries: 0, seconds: 0 },
    settled: { happened: 0, void: 0, unknown: 0 },
  }

  /** Counts a work when it ends, and how long it took when it succeeded. */
  async function during<T>(kind: 'reads' | 'transactions', work: Promise<T>): Promise<T> {
    const begun = performance.now()
    try {
      const value = await work
      counts[kind] += 1
      counts.seconds += (performance.now() - begun) / 1000
      return value
    } catch (cause) {
      counts.failures += 1
      throw cause
    }
  }

  async function settling<T extends { happened: boolean }>(settlement: Promise<T>): Promise<T> {
    try {
      const outcome = await settlement
      counts.settled[outcome.happened ? 'happened' : 'void'] += 1
      return outcome
    } catch (cause) {
      counts.settled.unknown += 1
      throw cause
    }
  }

  return {
    during,
    settling,
    retried: () => {
      counts.retries += 1
    },
    read: (): WorkCounts => ({ ...counts, settled: { ...counts.settled } }),
  }
}
