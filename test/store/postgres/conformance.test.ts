// PostgreSQL with files on a disk and in a bucket, measured by what every engine promises.

import { afterAll, beforeAll, describe, test } from 'bun:test'
import { installedEngines } from '../../support/database-servers.ts'
import { startTestPostgres, type TestPostgres } from '../../support/postgres.ts'
import { openPostgresEngine } from '../../support/postgres-store.ts'
import { describeAccounts } from '../conformance/accounts.ts'
import type { OpenedEngine } from '../conformance/engine.ts'

const isInstalled = installedEngines().includes('postgres')
let postgres: TestPostgres
beforeAll(async () => {
  if (isInstalled) postgres = await startTestPostgres()
}, 120_000)
afterAll(() => postgres?.stop())

async function openEngine(): Promise<OpenedEngine> {
  return openPostgresEngine(await postgres.newEmptyDatabase())
}

describe.skipIf(!isInstalled)('PostgreSQL', () => {
  test('opens an empty database, and again what it made there', async () => {
    const opened = await openEngine()
    await opened.reopen()
    await opened.close()
  })

  describe('accounts', () => describeAccounts(openEngine))
})
