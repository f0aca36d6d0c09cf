// What nodes share, in an SQLite database in memory.

import { Database } from 'bun:sqlite'
import { newKeyFile, parseKeyFile } from '../../src/crypto/keyring.ts'
import { createSharedState } from '../../src/store/every-engine/shared-state.ts'
import type { SharedState } from '../../src/store/shared-face.ts'
import { migrate } from '../../src/store/sqlite/engine/migrate.ts'
import { createDrive, createSteps } from '../../src/store/sqlite/engine/run-steps.ts'

export function openSharedState(now: () => number): SharedState {
  const database = new Database(':memory:', { strict: true })
  migrate(database)
  const steps = createSteps({
    drive: createDrive(database),
    transact: async (work) => database.transaction(work)(),
    onEffect: () => undefined,
  })
  const onError = (cause: unknown) => {
    throw cause
  }
  return createSharedState({ steps, keyring: parseKeyFile(newKeyFile()), now, onError })
}
