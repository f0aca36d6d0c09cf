// Opens the store of a server or of an import: in the data folder, or on PostgreSQL.

import { DamageError } from '../domain/errors.ts'
import type { Now, Uptime } from '../domain/time.ts'
import type { Log } from '../operating/log.ts'
import { noteFailure, placeDamage } from '../operating/logging.ts'
import { type BucketConfig, bucketSettingsOf } from '../settings/bucket.ts'
import { type DatabaseConfig, databaseSettingsOf } from '../settings/database.ts'
import type { Config } from '../settings/table.ts'
import type { OpenedStore } from '../store/opening/opened-store.ts'
import type { StoreOptions } from '../store/opening/sqlite-parts.ts'
import { openStore } from '../store/opening/sqlite-store.ts'

/** The settings of a store. */
export type StoreConfig = DatabaseConfig &
  BucketConfig &
  Pick<Config, 'dataDir' | 'minFreeSpace' | 'maxFileBytes' | 'maxClockGap'> &
  Pick<Config, 'acceptClock' | 'acceptMove' | 'acceptDatabase'>

type StorePorts = Pick<StoreOptions, 'isServer' | 'onWarning' | 'onError' | 'onFatal' | 'onCommitted'> & {
  now: Now
  uptime: Uptime
  /** Aborts the wait for a database server. */
  abandoned?: AbortSignal | undefined
  /** Replaces the clock of the database server in tests. */
  serverNow?: Now | undefined
}

/**
 * Opens a store, and creates what is missing. Throws `conflict` with a message for the operator when the
 * folder or database cannot be used.
 */
export async function openAnyStore(config: StoreConfig, ports: StorePorts): Promise<OpenedStore> {
  const { now, serverNow = null, uptime } = ports
  const clock = { uptime, accept: config.acceptClock, maxGap: config.maxClockGap }
  const options = { ...config, ...ports, bucket: bucketSettingsOf(config) }
  const server = databaseSettingsOf(config)
  if (server === null) return openStore({ ...options, clock: { ...clock, systemNow: now } })
  // Loads the PostgreSQL client only where it is needed.
  const { openServerStore } = await import('./open-server-store.ts')
  return openServerStore({ ...options, ...server, clock: { ...clock, systemNow: serverNow } })
}

type ServedStoreOptions = Pick<StorePorts, 'now' | 'uptime' | 'onCommitted' | 'abandoned'> & {
  config: Config
  log: Log
  /** Overrides the store, which tests wrap to make it fail. */
  interpose?: ((store: OpenedStore) => OpenedStore) | undefined
}

/**
 * Opens the store of a server, and logs its warnings and failures. `failed` resolves when the database may be
 * corrupt and the process must end.
 */
export async function openServedStore({ config, log, interpose, ...ports }: ServedStoreOptions) {
  const { promise: failed, resolve: fail } = Promise.withResolvers<Error>()
  const onFailure = noteFailure(log, 'a background task of the store failed')
  const store = await openAnyStore(config, {
    ...ports,
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
