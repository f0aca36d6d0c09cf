// Opens the store of a node whose rows PostgreSQL keeps, for a server and for imports.

import { hostname } from 'node:os'
import { version } from '../../package.json'
import { MINUTE, type Now, type Uptime } from '../domain/time.ts'
import type { DatabaseSettings } from '../settings/database.ts'
import type { Config } from '../settings/table.ts'
import type { CommonStoreOptions, OpenedStore } from '../store/opening/opened-store.ts'
import { openPostgresStore } from '../store/opening/postgres-store.ts'
import { connectTo, warnAboutTls } from '../store/postgres/reaching/address.ts'
import { reachServer } from '../store/postgres/reaching/reach.ts'
import { explainUnreachable } from '../store/postgres/reaching/unreachable.ts'
import { createDatabaseOutage } from './database-outage.ts'

/** What settings and a process give to a store, in a data folder too. */
export type AnyStoreOptions = Omit<CommonStoreOptions, 'clock'> &
  Pick<Config, 'maxClockGap' | 'acceptClock' | 'acceptDatabase'> & {
    uptime: Uptime
    /** Gives up waiting for the server. */
    abandoned?: AbortSignal | undefined
    /** In place of the server's clock, for tests. */
    serverNow?: Now | undefined
  }

/** For a server that is started at the same time, such as by `docker compose up`. */
const PATIENCE_MS = MINUTE

/** Throws `conflict` with a sentence for the operator when the server cannot be used. */
export async function openServerStore(
  { address, keyFile, connections }: DatabaseSettings,
  options: AnyStoreOptions,
): Promise<OpenedStore> {
  const { onWarning, uptime, acceptClock: accept, maxClockGap: maxGap, serverNow, abandoned } = options
  const connect = connectTo(address)
  const weakness = warnAboutTls(address)
  if (weakness !== null) onWarning(weakness)
  await reachServer({ address, connect, patience: PATIENCE_MS, onWait: onWarning, abandoned })
  const opening = openPostgresStore({
    ...options,
    ...{ keyFile, connect, connections },
    outage: createDatabaseOutage(address, onWarning),
    label: { name: hostname(), version },
    clock: { uptime, accept, maxGap, systemNow: serverNow ?? null },
  })
  return opening.catch((cause) => {
    throw explainUnreachable(address, cause)?.error ?? cause
  })
}
