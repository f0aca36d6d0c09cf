// Opens the store of a node on PostgreSQL, for a server and for imports. Detects outages by failed
// connections and heartbeats, and logs each one.

import { hostname } from 'node:os'
import { version } from '../../package.json'
import { type DatabaseAddress, presentDatabaseAddress } from '../domain/database-address.ts'
import { isDomainError } from '../domain/errors.ts'
import { messageOf } from '../domain/system-errors.ts'
import { MINUTE } from '../domain/time.ts'
import type { DatabaseSettings } from '../settings/database.ts'
import type { OpenedStore } from '../store/opening/opened-store.ts'
import {
  type OutageWatch,
  openPostgresStore,
  type PostgresStoreOptions,
} from '../store/opening/postgres-store.ts'
import type { OnState } from '../store/postgres/engine/database.ts'
import { connectTo, warnAboutTls } from '../store/postgres/reaching/address.ts'
import { reachServer } from '../store/postgres/reaching/reach.ts'
import { explainUnreachable } from '../store/postgres/reaching/unreachable.ts'

type ServerStoreOptions = Omit<PostgresStoreOptions, 'connect' | 'label'> &
  Pick<DatabaseSettings, 'address'> & {
    /** Aborts the wait for the server. */
    abandoned?: AbortSignal | undefined
  }

/** How long to wait for a database server that starts at the same time, as with `docker compose up`. */
const PATIENCE_MS = MINUTE

/** Throws `conflict` with a message for the operator when the server cannot be used. */
export async function openServerStore(options: ServerStoreOptions): Promise<OpenedStore> {
  const { address, onWarning, abandoned } = options
  const connect = connectTo(address)
  const weakness = warnAboutTls(address)
  if (weakness !== null) onWarning(weakness)
  await reachServer({ address, connect, patience: PATIENCE_MS, onWait: onWarning, abandoned })
  const outage = createDatabaseOutage(address, onWarning)
  const label = { name: hostname(), version }
  return openPostgresStore({ ...options, connect, outage, label }).catch((cause) => {
    throw explainUnreachable(address, cause)?.error ?? cause
  })
}

/** Log an outage after this many missed heartbeats: on a busy server a single one may be late. */
const MISSED_BEATS = 2

/** Logs each cause once, and the end of the outage once. */
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
    loss = explained?.error.message ?? messageOf(cause)
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
