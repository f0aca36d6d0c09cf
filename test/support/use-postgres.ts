// PostgreSQL for the tests of one file.

import { afterAll, beforeAll } from 'bun:test'
import { type Needing, needs } from './needs.ts'
import { startTestPostgres, type TestPostgres } from './postgres.ts'

export type UsedPostgres = Omit<TestPostgres, 'stop'> & {
  isInstalled: boolean
  /** Describes tests that need PostgreSQL, and are skipped if it is not installed. */
  describe: Needing['describe']
}

const START_MS = 300_000

/**
 * Starts a server before the tests of this file, or of the `describe` around it, and stops it after them.
 * `flags`: for its command line.
 */
export function usePostgres(flags: readonly string[] = []): UsedPostgres {
  const { isMet: isInstalled, describe } = needs('postgres')
  let started: TestPostgres | undefined
  beforeAll(async () => {
    if (isInstalled) started = await startTestPostgres(flags)
  }, START_MS)
  afterAll(() => started?.stop())

  function running(): TestPostgres {
    if (started === undefined) throw new Error('PostgreSQL runs only within tests')
    return started
  }

  return {
    isInstalled,
    describe,
    get server() {
      return running().server
    },
    newEmptyDatabase: () => running().newEmptyDatabase(),
    newDatabase: () => running().newDatabase(),
    copyDatabase: (database, name) => running().copyDatabase(database, name),
  }
}
