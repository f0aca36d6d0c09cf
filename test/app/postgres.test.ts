// What an operator does beside the nodes of a PostgreSQL database: accounts and tokens, and what is refused.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openAccounts } from '../../src/app/account-commands.ts'
import { parseDatabaseAddress } from '../../src/domain/database-address.ts'
import { installedEngines } from '../support/database-servers.ts'
import { startTestPostgres, type TestDatabase, type TestPostgres } from '../support/postgres.ts'

const PASSWORD = 'correct horse battery'
const fail = (cause: unknown) => {
  throw cause
}

describe.skipIf(!installedEngines().includes('postgres'))('beside the nodes', () => {
  let postgres: TestPostgres
  let database: TestDatabase
  beforeAll(async () => {
    postgres = await startTestPostgres()
    database = await postgres.newDatabase()
  })
  afterAll(async () => {
    await database?.close()
    await postgres?.stop()
  })

  function open({ address }: Pick<TestDatabase, 'address'>) {
    const parsed = parseDatabaseAddress(address, 'disable')
    if (parsed === null || 'problem' in parsed) throw new Error('no address')
    const ports = { now: () => 0, writeLog: () => undefined }
    return openAccounts({ dataDir: '/nonexistent', database: parsed }, ports)
  }

  test('accounts and tokens are added, changed and removed, by the clock of the database', async () => {
    const { where, accounts, apiTokens, close } = await open(database)
    expect(where).toBe(
      `Database: postgres://127.0.0.1:${postgres.server.port}/${database.address.split('/').pop()}`,
    )
    const { createdAt } = await accounts.addAccount({
      email: 'ann@example.org',
      password: PASSWORD,
      isAdmin: true,
    })
    expect(Math.abs(createdAt - Date.now())).toBeLessThan(600_000)
    const { apiToken } = await apiTokens.createApiToken({ email: 'ann@example.org', name: 'laptop' })
    expect((await apiTokens.authenticate(apiToken, fail))?.email).toBe('ann@example.org')
    await accounts.setPassword({ email: 'ann@example.org', password: `${PASSWORD} 2`, revoke: true })
    expect(await apiTokens.listApiTokens('ann@example.org')).toEqual([])
    expect(await accounts.removeAccount('ann@example.org')).toEqual({ pushes: 0 })
    await close()
  })

  test('a database without tables is refused, and the sentence says what to do', async () => {
    const empty = await postgres.newEmptyDatabase()
    await expect(open(empty)).rejects.toThrow('Start "oncebox serve" once')
    await empty.close()
  })

  test('a server that does not answer is told at once', async () => {
    const address = 'postgres://ann@127.0.0.1:1/boxes'
    await expect(open({ address })).rejects.toThrow('nothing answers there')
  })
})
