// Reads every row that carries a checksum once after the start, a few at a time: damage is told to the operator before
// somebody asks for what it has hit. Rows that are asked for meanwhile are checked anyway.

import { asc, gt, sql } from 'drizzle-orm'
import { presentAccount } from './account-rows.ts'
import { requireIntactEntry } from './audit-rows.ts'
import type { Damage } from './damage.ts'
import type { Connection } from './database.ts'
import type { PushRows } from './push-rows.ts'
import { accounts, auditEntries, pushes } from './schema.ts'

const DELAY_MS = 1_000
const STEP = 200
/** Between steps: a hundredth of a core at most, and hardly a page of what others keep in the cache. */
const PAUSE_MS = 25
/** Of more rows the number is told, not each. */
const MAX_TOLD = 10

export type ScrubOptions = {
  connection: Connection
  rows: Pick<PushRows, 'requireIntactSecrets'>
  damage: Pick<Damage, 'tell'>
}

export function startScrub({ connection, rows, damage }: ScrubOptions): { stop(): void } {
  const { orm } = connection
  const after = sql.placeholder('after')
  const someAccounts = orm
    .select()
    .from(accounts)
    .where(gt(accounts.id, after))
    .orderBy(asc(accounts.id))
    .limit(STEP)
    .prepare()
  const somePushes = orm
    .select()
    .from(pushes)
    .where(gt(pushes.id, after))
    .orderBy(asc(pushes.id))
    .limit(STEP)
    .prepare()
  const someEntries = orm
    .select()
    .from(auditEntries)
    .where(gt(auditEntries.id, after))
    .orderBy(asc(auditEntries.id))
    .limit(STEP)
    .prepare()
  let isStopped = false
  let damaged = 0

  async function run(): Promise<void> {
    await readThrough((after) => someAccounts.all({ after }), presentAccount)
    await readThrough((after) => somePushes.all({ after }), rows.requireIntactSecrets)
    await readThrough((after) => someEntries.all({ after }), requireIntactEntry)
    if (damaged > MAX_TOLD) damage.tell(new Error(`the database is damaged in ${damaged} rows altogether`))
  }

  /** `check` throws for a row that is not as it was written. */
  async function readThrough<Row extends { id: number }>(
    read: (after: number) => Row[],
    check: (row: Row) => void,
  ): Promise<void> {
    for (let last = 0; !isStopped; await Bun.sleep(PAUSE_MS)) {
      const some = tryRow(() => read(last)) ?? []
      for (const row of some) tryRow(() => check(row))
      if (some.length < STEP) return
      last = some.at(-1)?.id ?? last
    }
  }

  function tryRow<Result>(work: () => Result): Result | null {
    try {
      return work()
    } catch (cause) {
      damaged += 1
      if (damaged <= MAX_TOLD) damage.tell(cause)
      return null
    }
  }

  const timer = setTimeout(() => run().catch(damage.tell), DELAY_MS)
  const stop = () => {
    isStopped = true
    clearTimeout(timer)
  }
  return { stop }
}
