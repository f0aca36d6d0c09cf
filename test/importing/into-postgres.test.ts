// Imports into PostgreSQL: all that holds for imports into a data folder.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeNewKey } from '../../src/app/keys.ts'
import { parseDatabaseAddress } from '../../src/domain/database-address.ts'
import { openTestBucket, type TestBucket } from '../support/bucket.ts'
import { type Destination, importsInto, newFolder } from '../support/import.ts'
import { importCases, live } from '../support/import-cases.ts'
import { createTestClock, START } from '../support/instance.ts'
import { needs } from '../support/needs.ts'
import { writeSource } from '../support/password-pusher.ts'
import { startTestPostgres, type TestDatabase, type TestPostgres } from '../support/postgres.ts'
import { openTestNode } from '../support/postgres-store.ts'

const postgresTests = needs('postgres')
let postgres: TestPostgres
const databases = new Map<string, Promise<TestDatabase>>()
let bucket: TestBucket
beforeAll(async () => {
  bucket = await openTestBucket()
  if (postgresTests.isMet) postgres = await startTestPostgres()
}, 300_000)
afterAll(async () => {
  await bucket.close()
  for (const database of databases.values()) await (await database).close()
  await postgres?.stop()
})

/** Returns a separate database for each data folder. */
function databaseOf(dataDir: string): Promise<TestDatabase> {
  const database = databases.get(dataDir) ?? postgres.newEmptyDatabase()
  databases.set(dataDir, database)
  return database
}

const keyFileOf = (dataDir: string) => join(dataDir, '..', 'instance.key')

const destination: Destination = {
  partsOf: async (dataDir) => {
    const { address: text } = await databaseOf(dataDir)
    const address = parseDatabaseAddress(`${text}?sslmode=disable`)
    if (address === null || 'problem' in address) throw new Error('the address of the test server')
    return { keyFile: keyFileOf(dataDir), databaseUrl: address }
  },
  open: async (dataDir) => {
    const { connect } = await databaseOf(dataDir)
    return { store: await openTestNode({ dataDir, connect, clock: createTestClock(), bucket: null }) }
  },
}

postgresTests.describe('into PostgreSQL', () => {
  const imports = importsInto(destination)

  importCases(() => null, imports)

  async function written(parts: Parameters<typeof live>[1] = {}) {
    const folder = newFolder()
    const source = await writeSource(folder, { server: null })
    source.addPush(live(1, parts))
    await source.close()
    return { folder, wish: { ...source.wish, dataDir: join(folder, 'box') } }
  }

  test('is refused while a node serves, and imports nothing', async () => {
    const files = [{ key: 'abcdgood', filename: 'a.txt', content: Buffer.from('x') }]
    const { folder, wish } = await written({ files })
    const { connect } = await databaseOf(wish.dataDir)
    const place = {
      connect,
      clock: createTestClock(),
      bucket: bucket.settings,
      dataDir: join(folder, 'node'),
    }
    const node = await openTestNode({ ...place, name: 'first' })
    const beside = { ...wish, ...bucket.config }
    await expect(imports.importReport(beside, START)).rejects.toThrow('Nodes serve the database (first)')
    expect(bucket.listKeys()).toEqual([])
    expect(await node.health.countPushes()).toEqual({ live: 0, expired: 0 })
    await node.close()
    expect((await imports.importReport(beside, START)).pushes.live).toBe(1)
  })

  test('reports a missing key file, and a database without data to compare with', async () => {
    const { wish } = await written()
    await expect(imports.verification(wish, START)).rejects.toThrow(/no Oncebox data in postgres:/)
    await imports.importReport(wish, START)
    rmSync(keyFileOf(wish.dataDir))
    await expect(imports.importReport(wish, START)).rejects.toThrow(/key file .* is missing/)
    await expect(imports.importReport({ ...wish, mode: 'dry-run' }, START)).rejects.toThrow('key file')
    makeNewKey(keyFileOf(wish.dataDir))
    for (const mode of ['dry-run', 'import'] as const)
      await expect(imports.importReport({ ...wish, mode }, START)).rejects.toThrow('does not belong to this')
  })
})
