// Opens the store of a node whose rows PostgreSQL keeps, for a server and for imports.

import { hostname } from 'node:os'
import { version } from '../../package.json'
import { MINUTE } from '../domain/time.ts'
import type { DatabaseSettings } from '../settings/database.ts'
import type { OpenedStore } from '../store/opening/opened-store.ts'
import { openPostgresStore, type PostgresStoreOptions } from '../store/opening/postgres-store.ts'
import { connectTo, warnAboutTls } from '../store/postgres/reaching/address.ts'
import { reachServer } from '../store/postgres/reaching/reach.ts'
import { explainUnreachable } from '../store/postgres/reaching/unreachable.ts'
import { createDatabaseOutage } from './database-outage.ts'

type ServerStoreOptions = Omit<PostgresStoreOptions, 'connect' | 'label'> &
  Pick<DatabaseSettings, 'address'> & {
    /** Gives up waiting for the server. */
    abandoned?: AbortSignal | undefined
  }

/** For a server that is started at the same time, such as by `docker compose up`. */
const PATIENCE_MS = MINUTE

/** Throws `conflict` with a sentence for the operator when the server cannot be used. */
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
