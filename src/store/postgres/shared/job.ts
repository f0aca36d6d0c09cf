// Exchanges the counts of nodes every second, gives back tries that it still owes, and sweeps what nodes share once it has lapsed.

import { isDomainError } from '../../../domain/errors.ts'
import type { Job, JobReport } from '../../../domain/job.ts'
import { HOUR, MINUTE, type Now } from '../../../domain/time.ts'
import type { Transact } from '../engine/database.ts'

const EXCHANGE_MS = 1_000
/** Rows that one transaction removes, so that it is short. Rows that another node works on are left to it. */
const STEP = 1_000
/** Longer than the clocks of nodes can differ. */
const MARGIN = HOUR

const LAPSING = [
  { table: 'spent_points', key: 'name', end: 'until' },
  { table: 'used_nonces', key: 'nonce', end: 'lapses_at' },
  { table: 'leases', key: 'name', end: 'until' },
  { table: 'two_factor_offers', key: 'session_id', end: 'until' },
] as const

export type SharedJobOptions = {
  transact: Transact
  exchange: () => Promise<void>
  settle: () => Promise<void>
  /** The time by which something may be destroyed. */
  certain: Now
}

export function createSharedJob({ transact, exchange, settle, certain }: SharedJobOptions) {
  let timer: Timer | null = null
  let running: Promise<void> = Promise.resolve()
  let sweptAt = Number.NEGATIVE_INFINITY
  let isStopped = false
  let told: string | null = null

  /** Resolves to the number of rows that were removed. */
  async function sweep(): Promise<number> {
    let removed = 0
    for (const of of LAPSING) {
      for (let some = STEP; some === STEP && !isStopped; ) {
        some = await removeSome(of)
        removed += some
      }
    }
    return removed
  }

  async function removeSome({ table, key, end }: (typeof LAPSING)[number]): Promise<number> {
    const lapsed = `SELECT ${key} FROM ${table} WHERE ${end} <= $1 ORDER BY ${end} LIMIT ${STEP} FOR UPDATE SKIP LOCKED`
    const text = `DELETE FROM ${table} WHERE ${key} = ANY(ARRAY(${lapsed})) RETURNING 1 AS removed`
    return (await transact((session) => session.query(text, [certain() - MARGIN]))).length
  }

  async function run(report: JobReport): Promise<void> {
    try {
      await settle()
      await exchange()
      if (performance.now() - sweptAt >= MINUTE) {
        sweptAt = performance.now()
        await sweep()
      }
      told = null
      report.did()
    } catch (cause) {
      report.failed(cause, { isTold: !isDomainError(cause) && String(cause) === told })
      told = String(cause)
    }
    if (!isStopped) timer = setTimeout(begin, EXCHANGE_MS, report)
  }

  function begin(report: JobReport): void {
    running = run(report)
  }

  const job: Job = {
    name: 'shared',
    start: (report) => {
      timer = setTimeout(begin, EXCHANGE_MS, report)
    },
    stop: () => {
      isStopped = true
      if (timer !== null) clearTimeout(timer)
      return running
    },
  }
  return { job, sweep }
}
