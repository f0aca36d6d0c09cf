// Opens the store of a server and logs its warnings and failures.

import { DamageError } from '../domain/errors.ts'
import type { Now, Uptime } from '../domain/time.ts'
import type { Log } from '../operating/log.ts'
import { noteFailure, placeDamage } from '../operating/logging.ts'
import type { Meter } from '../operating/metrics.ts'
import { bucketSettingsOf } from '../settings/bucket.ts'
import { type DatabaseSettings, databaseSettingsOf } from '../settings/database.ts'
import type { Config } from '../settings/table.ts'
import type { OpenedStore } from '../store/opening/opened-store.ts'
import { openStore } from '../store/opening/sqlite-store.ts'

export type ServedStoreOptions = {
  config: Config
  log: Log
  now: Now
  uptime: Uptime
  onStep?: ((step: string) => void) | undefined
  onCommitted?: Meter['committed'] | undefined
  /** Gives up waiting for a database server. */
  abandoned?: AbortSignal | undefined
  /** Tests put failures before the store. */
  interpose?: ((store: OpenedStore) => OpenedStore) | undefined
}

/** `failed` resolves when the database may be corrupt and the process must end. */
export async function openServedStore(options: ServedStoreOptions) {
  const { config, log, interpose = (store) => store } = options
  const server = databaseSettingsOf(config)
  if (server !== null) return { store: interpose(await openOnServer(server, options)), failed: NEVER }
  const { promise: failed, resolve: fail } = Promise.withResolvers<Error>()
  const store = await openInFolder(options, (err) => {
    log.fatal({ err }, 'the database cannot be trusted any more: stopping')
    fail(
      new Error(
        'The database cannot be trusted any more; see the log. Check the disk and the data folder, then start again.',
      ),
    )
  })
  return { store: interpose(store), failed }
}

/** What each engine takes. */
function commonOf({ config, log, uptime }: ServedStoreOptions) {
  const bucket = bucketSettingsOf(config)
  const onFailure = noteFailure(log, 'a background task of the store failed')
  return {
    dataDir: config.dataDir,
    clock: { uptime, accept: config.acceptClock, maxGap: config.maxClockGap },
    bucket: bucket && { ...bucket, maxFileBytes: config.maxFileBytes },
    minFreeSpace: config.minFreeSpace,
    onWarning: (warning: string) => log.warn(warning),
    onError: (cause: unknown) => {
      const err = placeDamage(cause, config)
      if (err instanceof DamageError) log.error(err.message)
      else onFailure(err)
    },
  }
}

function openInFolder(options: ServedStoreOptions, onFatal: (cause: unknown) => void): Promise<OpenedStore> {
  const { config, now: systemNow, onStep, onCommitted } = options
  const common = commonOf(options)
  return openStore({
    ...common,
    keyFile: config.keyFile,
    clock: { ...common.clock, systemNow },
    acceptMove: config.acceptMove,
    isServer: true,
    onStep,
    onCommitted,
    onFatal,
  })
}

const NEVER = new Promise<Error>(() => undefined)

/** Loads the client of PostgreSQL only where it is needed. */
async function openOnServer(server: DatabaseSettings, options: ServedStoreOptions): Promise<OpenedStore> {
  const { openServerStore } = await import('./open-server-store.ts')
  const { abandoned, config } = options
  return openServerStore(server, {
    ...commonOf(options),
    abandoned,
    acceptDatabase: config.acceptDatabase,
  })
}
