// Notices outages of PostgreSQL, from its connections and from the heartbeats of this node, and tells each one in the log.

import { type DatabaseAddress, presentDatabaseAddress } from '../domain/database-address.ts'
import { isDomainError } from '../domain/errors.ts'
import { createOutage } from '../operating/outage.ts'
import type { OutageWatch } from '../store/opening/postgres-node.ts'
import type { OnState } from '../store/postgres/engine/database.ts'
import { explainUnreachable } from '../store/postgres/reaching/unreachable.ts'

/** The operator is told from this many on, because a single heartbeat may be late on a busy server. */
const MISSED_BEATS = 2

export function createDatabaseOutage(address: DatabaseAddress, say: (line: string) => void): OutageWatch {
  const away = createOutage({ say, over: 'PostgreSQL is used again,' })
  const silent = createOutage({ say, over: 'PostgreSQL takes changes again,' })
  let loss: string | null = null
  let missed = 0
  let missedSince = 0

  const onState: OnState = (cause) => {
    if (cause === null) {
      loss = null
      away.ended()
      return
    }
    const explained = explainUnreachable(address, cause)
    loss = explained?.error.message ?? (cause instanceof Error ? cause.message : String(cause))
    const kind = explained?.isAway ? 'away' : loss
    away.began(kind, presentLoss(loss, explained?.isAway === true))
  }

  function onBeat(cause: unknown): void {
    if (cause === null) {
      missed = 0
      silent.ended()
      return
    }
    if (missed === 0) missedSince = performance.now()
    missed += 1
    const isExplained = away.isOn() || !isDomainError(cause, 'overloaded')
    if (missed >= MISSED_BEATS && !isExplained)
      silent.began('silent', `${presentDatabaseAddress(address)} ${SILENT}`, missedSince)
  }

  return { onState, onBeat, explainLoss: () => loss, isOn: () => away.isOn() || silent.isOn() }
}

function presentLoss(why: string, isAway: boolean): string {
  const next = isAway ? ' This node goes on by itself as soon as it can be used.' : ''
  return `PostgreSQL cannot be used; requests that need it get 503 until then. ${why}${next}`
}

const SILENT =
  'answers, but takes no changes; requests that change something get 503 until then. See its log, whether its disk is full, whether ' +
  'something locks its tables (pg_stat_activity), and whether a standby of synchronous_standby_names is missing (pg_stat_replication).'
