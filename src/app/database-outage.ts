// Notices outages of PostgreSQL, from its connections and from the heartbeats of this node, and tells each one in the log.

import { type DatabaseAddress, presentDatabaseAddress } from '../domain/database-address.ts'
import { isDomainError } from '../domain/errors.ts'
import type { OutageWatch } from '../store/opening/postgres-store.ts'
import type { OnState } from '../store/postgres/engine/database.ts'
import { explainUnreachable } from '../store/postgres/reaching/unreachable.ts'

/** The operator is told from this many on, because a single heartbeat may be late on a busy server. */
const MISSED_BEATS = 2

/** Each cause is told once, and once more that it is over. */
export function createDatabaseOutage(address: DatabaseAddress, say: (line: string) => void): OutageWatch {
  let loss: string | null = null
  let told: string | null = null
  let isSilent = false
  let missed = 0

  const onState: OnState = (cause) => {
    if (cause === null) {
      if (told !== null) say('PostgreSQL is used again.')
      loss = null
      told = null
      return
    }
    const explained = explainUnreachable(address, cause)
    loss = explained?.error.message ?? (cause instanceof Error ? cause.message : String(cause))
    const kind = explained?.isAway ? 'away' : loss
    if (kind !== told) say(presentLoss(loss, explained?.isAway === true))
    told = kind
  }

  function onBeat(cause: unknown): void {
    missed = cause === null ? 0 : missed + 1
    if (cause === null && isSilent) say('PostgreSQL takes changes again.')
    if (cause === null) isSilent = false
    if (isSilent || told !== null || missed < MISSED_BEATS || !isDomainError(cause, 'overloaded')) return
    isSilent = true
    say(`${presentDatabaseAddress(address)} ${SILENT}`)
  }

  return { onState, onBeat, explainLoss: () => loss, isOn: () => told !== null || isSilent }
}

function presentLoss(why: string, isAway: boolean): string {
  const next = isAway ? ' This node goes on by itself as soon as it can be used.' : ''
  return `PostgreSQL cannot be used; requests that need it get 503 until then. ${why}${next}`
}

const SILENT =
  'answers, but takes no changes; requests that change something get 503 until then. See its log, whether its disk is full, whether ' +
  'something locks its tables (pg_stat_activity), and whether a standby of synchronous_standby_names is missing (pg_stat_replication).'
