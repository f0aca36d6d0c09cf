// Opens the store of a server or of an import: in the data folder, or on PostgreSQL.

import { DamageError } from '../domain/errors.ts'
import type { Now } from '../domain/time.ts'
import type { Log } from '../operating/log.ts'
import { noteFailure, placeDamage } from '../operating/logging.ts'
import { bucketSettingsOf } from '../settings/bucket.ts'
import { type DatabaseSettings, databaseSettingsOf } from '../settings/database.ts'
import type { Config } from '../settings/table.ts'
import type { OpenedStore } from '../store/opening/opened-store.ts'
import { openStore } from '../store/opening/sqlite-store.ts'
import type { AnyStoreOptions } from './open-server-store.ts'

export type OpenStoreOptions = AnyStoreOptions &
  Omit<Parameters<typeof openStore>[0], 'clock'> & {
    /** PostgreSQL; null for the database in the data folder. */
    server: DatabaseSettings | null
    now: Now
  }

/** Makes what is missing. Throws `conflict` with a sentence for the operator when the place cannot be used. */
export async function openAnyStore({ server, now, ...options }: OpenStoreOptions): Promise<OpenedStore> {
  // Loads the client of PostgreSQL only where it is needed.
  if (server !== null) return (await import('./open-server-store.ts')).openServerStore(server, options)
  const { uptime, acceptClock: accept, maxClockGap: maxGap } = options
  return openStore({ ...options, clock: { uptime, accept, maxGap, systemNow: now } })
}

export type ServedStoreOptions = Pick<
  OpenStoreOptions,
  'now' | 'uptime' | 'onStep' | 'onCommitted' | 'abandoned'
> & {
  config: Config
  log: Log
  /** Tests put failures before the store. */
  interpose?: ((store: OpenedStore) => OpenedStore) | undefined
}

/** Logs warnings and failures. `failed` resolves when the database may be corrupt and the process must end. */
export async function openServedStore({ config, log, interpose, ...ports }: ServedStoreOptions) {
  const { promise: failed, resolve: fail } = Promise.withResolvers<Error>()
  const bucket = bucketSettingsOf(config)
  const onFailure = noteFailure(log, 'a background task of the store failed')
  const store = await openAnyStore({
    ...config,
    ...ports,
    server: databaseSettingsOf(config),
    bucket: bucket && { ...bucket, maxFileBytes: config.maxFileBytes },
    isServer: true,
    onWarning: (warning) => log.warn(warning),
    onError: (cause) => {
      const err = placeDamage(cause, config)
      if (err instanceof DamageError) log.error(err.message)
      else onFailure(err)
    },
    onFatal: (err) => {
      log.fatal({ err }, 'the database cannot be trusted any more: stopping')
      fail(new Error(UNTRUSTED))
    },
  })
  return { store: interpose?.(store) ?? store, failed }
}

const UNTRUSTED =
  'The database cannot be trusted any more; see the log. Check the disk and the data folder, then start again.'
