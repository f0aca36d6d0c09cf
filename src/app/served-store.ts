// Opens the store of a server, and writes what it tells into the log.

import { DamageError } from '../domain/errors.ts'
import type { Now } from '../domain/time.ts'
import type { Log } from '../operating/log.ts'
import type { Config } from '../settings/table.ts'
import { openStore, type Store } from '../store/store.ts'

export type ServedStoreOptions = {
  config: Config
  log: Log
  ports: { now: Now; onStep?: (step: string) => void }
}

/** `failed` resolves when the store cannot be trusted any more and the process should end. */
export async function openServedStore({ config, log, ports }: ServedStoreOptions) {
  const { promise: failed, resolve: fail } = Promise.withResolvers<Error>()
  const store: Store = await openStore({
    dataDir: config.dataDir,
    keyFile: config.keyFile,
    systemNow: ports.now,
    acceptClock: config.acceptClock,
    removeDamaged: config.removeDamaged,
    minFreeSpace: config.minFreeSpace,
    onStep: ports.onStep,
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
