// The shared state of nodes, in an in-memory SQLite database.

import { Database } from 'bun:sqlite'
import { newKeyFile, parseKeyFile } from '../../src/crypto/keyring.ts'
import type { PageNonce } from '../../src/domain/page-nonce.ts'
import { createSharedState, spendNonce } from '../../src/store/shared-state.ts'
import { migrate } from '../../src/store/sqlite/migrate.ts'
import { createDrive, createSteps } from '../../src/store/sqlite/run-steps.ts'

export function openSharedState(
  now: () => number,
  { hasRoom = () => true }: { hasRoom?: () => boolean } = {},
) {
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
  const keyring = parseKeyFile(newKeyFile())
  return {
    ...createSharedState({ steps, keyring, now, hasRoom, onError }),
    /** Spends a nonce, like the commit of a button's action. */
    spend: (nonce: PageNonce) => steps.write(() => spendNonce(nonce)),
    countRows: () => database.query<{ n: number }, []>('SELECT count(*) AS n FROM spent_points').get()?.n,
  }
}
