// Opens the store of a node whose rows PostgreSQL keeps, for a server and for imports.

import { hostname } from 'node:os'
import { version } from '../../package.json'
import { MINUTE, type Now } from '../domain/time.ts'
import type { DatabaseSettings } from '../settings/database.ts'
import type { CommonStoreOptions, OpenedStore } from '../store/opening/opened-store.ts'
import { openPostgresStore } from '../store/opening/postgres-store.ts'
import { connectTo, warnAboutTls } from '../store/postgres/reaching/address.ts'
import { reachServer } from '../store/postgres/reaching/reach.ts'
import { explainUnreachable } from '../store/postgres/reaching/unreachable.ts'
import { createDatabaseOutage } from './database-outage.ts'

/** For a server that is started at the same time, such as by `docker compose up`. */
const PATIENCE_MS = MINUTE

export type ServerStoreOptions = CommonStoreOptions & {
  /** Gives up waiting for the server. */
  abandoned?: AbortSignal | undefined
  /** The operator says that the database was moved, and not restored. */
  acceptDatabase?: boolean
  /** In place of the server's clock, for tests. */
  systemNow?: Now | undefined
}

/** Throws `conflict` with a sentence for the operator when the server cannot be used. */
export async function openServerStore(
  { address, keyFile, connections }: DatabaseSettings,
  { abandoned, systemNow, ...options }: ServerStoreOptions,
): Promise<OpenedStore> {
  const { onWarning } = options
  const connect = connectTo(address)
  const weakness = warnAboutTls(address)
  if (weakness !== null) onWarning(weakness)
  await reachServer({ address, connect, patience: PATIENCE_MS, onWait: onWarning, abandoned })
  const opening = openPostgresStore({
    ...options,
    ...{ keyFile, connect, connections },
    outage: createDatabaseOutage(address, onWarning),
    label: { name: hostname(), version },
    clock: { ...options.clock, systemNow: systemNow ?? null },
  })
  return opening.catch((cause) => {
    throw explainUnreachable(address, cause)?.error ?? cause
  })
}
