// Opens the store of a server and logs its warnings and failures.

import { DamageError, DomainError } from '../domain/errors.ts'
import type { Now } from '../domain/time.ts'
import type { Log } from '../operating/log.ts'
import type { Meter } from '../operating/metrics.ts'
import { bucketSettingsOf } from '../settings/bucket.ts'
import type { Config } from '../settings/table.ts'
import { readMachine } from '../store/folder/machine.ts'
import type { OpenedStore } from '../store/opened-store.ts'
import { openStore } from '../store/store.ts'

export type ServedStoreOptions = {
  config: Config
  log: Log
  systemNow: Now
  uptime: Now
  onStep?: ((step: string) => void) | undefined
  onCommitted?: Meter['committed'] | undefined
}

/** `failed` resolves when the database may be corrupt and the process must end. */
export async function openServedStore(options: ServedStoreOptions) {
  const { config, log, systemNow, uptime, onStep, onCommitted } = options
  if (config.databaseUrl !== null) throw new DomainError('conflict', 'This program serves no PostgreSQL yet.')
  const bucket = bucketSettingsOf(config)
  const { promise: failed, resolve: fail } = Promise.withResolvers<Error>()
  const store: OpenedStore = await openStore({
    dataDir: config.dataDir,
    keyFile: config.keyFile,
    systemNow,
    uptime,
    maxClockGap: config.maxClockGap,
    acceptClock: config.acceptClock,
    machine: readMachine(process.platform),
    acceptMove: config.acceptMove,
    isServer: true,
    removeDamaged: config.removeDamaged,
    bucket: bucket && { ...bucket, maxFileBytes: config.maxFileBytes },
    minFreeSpace: config.minFreeSpace,
    onStep,
    onCommitted,
    onWarning: (warning) => log.warn(warning),
    onError: (err) =>
      err instanceof DamageError
        ? log.error(err.message)
        : log.error({ err }, 'a background task of the store failed'),
    onFatal: (err) => {
      log.fatal({ err }, 'the database cannot be trusted any more: stopping')
      fail(
        new Error('The database failed to write to its disk; see the log. Check the disk, then start again.'),
      )
    },
  })
  return { store, failed }
}
