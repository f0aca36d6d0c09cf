// Migrations of PostgreSQL: one node migrates, compatible nodes go on, and what is not ours stays as it is.

import { expect, test } from 'bun:test'
import { getTableConfig } from 'drizzle-orm/pg-core'
import { getTableConfig as getSharedConfig } from 'drizzle-orm/sqlite-core'
import { LOCKS } from '../../../../src/store/postgres/engine/advisory-locks.ts'
import * as instanceSchema from '../../../../src/store/postgres/schema/instance-schema.ts'
import { migrate } from '../../../../src/store/postgres/schema/migrate.ts'
import * as schema from '../../../../src/store/postgres/schema/schema.ts'
import {
  findSchemaProblem,
  hasTables,
  MIGRATIONS,
  readSchemaVersion,
  requireCurrentSchema,
} from '../../../../src/store/postgres/schema/schema-version.ts'
import * as tables from '../../../../src/store/tables.ts'
import { connectTo, type TestDatabase } from '../../../support/postgres.ts'
import { usePostgres } from '../../../support/use-postgres.ts'

const postgres = usePostgres()

const [first = { sql: '', compatibleFrom: 0 }] = MIGRATIONS
const onWarning = () => undefined
const second = (compatibleFrom: number) => [
  ...MIGRATIONS,
  { sql: 'ALTER TABLE pushes ADD COLUMN colour text', compatibleFrom },
]

async function withSession<T>(database: TestDatabase, work: (sql: Bun.SQL) => Promise<T>): Promise<T> {
  const sql = database.connect(1)
  try {
    return await work(sql)
  } finally {
    await sql.close({ timeout: 0 })
  }
}

const versionOf = (database: TestDatabase) => withSession(database, readSchemaVersion)

postgres.describe('migrations of PostgreSQL', () => {
  test('build the tables and columns that the program knows, and no others', async () => {
    const database = await postgres.newDatabase()
    const found = await withSession(database, (sql) =>
      sql.unsafe(
        `SELECT relname || '.' || attname || ' ' || format_type(atttypid, atttypmod) || CASE WHEN attnotnull THEN '' ELSE '?' END
           AS place FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
         WHERE relnamespace = 'oncebox'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped`,
      ),
    )
    const own = Object.values({ ...schema, ...instanceSchema })
      .map(getTableConfig)
      .flatMap(({ name, columns }) =>
        columns.map((column) => `${name}.${column.name} ${column.getSQLType()}${column.notNull ? '' : '?'}`),
      )
    // Of the tables of both engines only the types differ, such as bigint and boolean for an integer.
    const shared = Object.values(tables)
      .map(getSharedConfig)
      .flatMap(({ name, columns }) => columns.map((column) => ({ name, column })))
    const places: string[] = found.map(({ place }: { place: string }) => place)
    const typeOf = (start: string) => places.find((place) => place.startsWith(start))?.slice(start.length)
    const sharedPlaces = shared.map(({ name, column }) => {
      const start = `${name}.${column.name} `
      const type = { integer: /^(integer|bigint|boolean)$/, text: /^text$/, blob: /^bytea$/ }[
        column.getSQLType()
      ]
      const found = typeOf(start)?.replace('?', '') ?? ''
      return `${start}${type?.test(found) ? found : column.getSQLType()}${column.notNull ? '' : '?'}`
    })
    expect(places.sort()).toEqual([...own, ...sharedPlaces].sort())
    await database.close()
  })

  test('are taken by one node, while others that start wait and then serve', async () => {
    const database = await postgres.newEmptyDatabase()
    const slow = [{ ...first, sql: `${first.sql}; SELECT pg_sleep(0.5)` }]
    const warnings: string[] = []
    const start = () =>
      migrate({ connect: database.connect, migrations: slow, onWarning: (text) => warnings.push(text) })
    await Promise.all([start(), start(), start()])
    expect(await versionOf(database)).toEqual({ version: 1, compatibleFrom: 1 })
    expect(new Set(warnings)).toEqual(new Set(['Another node migrates the database: waiting for it to end.']))
    await database.close()
  })

  test('end a wait for a node that hangs with a sentence', async () => {
    const database = await postgres.newEmptyDatabase()
    await withSession(database, async (sql) => {
      await sql.unsafe(`SELECT pg_advisory_lock(${LOCKS.migration})`)
      const waiting = migrate({ connect: database.connect, onWarning, patience: 300 })
      await expect(waiting).rejects.toThrow('has been migrating the database for too long')
    })
    await database.close()
  })

  test('leave the tables as they were when a step fails', async () => {
    const database = await postgres.newDatabase()
    const broken = [...second(1), { sql: 'CREATE TABLE extra (id int); SELECT nonsense', compatibleFrom: 1 }]
    await expect(migrate({ connect: database.connect, migrations: broken, onWarning })).rejects.toThrow()
    expect(await versionOf(database)).toEqual({ version: 2, compatibleFrom: 1 })
    const [extra] = await withSession(database, (sql) => sql.unsafe("SELECT to_regclass('extra') AS name"))
    expect(extra.name).toBeNull()
    await database.close()
  })

  test('wait for a table that is in use, and do not hold up those who use it', async () => {
    const database = await postgres.newDatabase()
    const warnings: string[] = []
    await withSession(database, async (sql) => {
      await sql.unsafe('BEGIN; SELECT * FROM pushes').simple()
      const options = { connect: database.connect, migrations: second(1), tableLockMs: 50 }
      const migrating = migrate({ ...options, onWarning: (text) => warnings.push(text) })
      while (warnings.length < 2) await Bun.sleep(10)
      await sql.unsafe('COMMIT').simple()
      await migrating
    })
    expect(warnings[0]).toContain('waits for a table that is in use')
    expect((await versionOf(database)).version).toBe(2)
    await database.close()
  })

  test('by a newer program leave an older one serving where they say so', async () => {
    const database = await postgres.newDatabase()
    await migrate({ connect: database.connect, migrations: second(1), onWarning })
    expect(await versionOf(database)).toEqual({ version: 2, compatibleFrom: 1 })
    await migrate({ connect: database.connect, onWarning })
    expect(await versionOf(database)).toEqual({ version: 2, compatibleFrom: 1 })
    expect(findSchemaProblem(await versionOf(database))).toBeNull()
    await database.close()
  })

  test('by a newer program keep an older one out where they break it', async () => {
    const database = await postgres.newDatabase()
    await migrate({ connect: database.connect, migrations: second(2), onWarning })
    const late = migrate({ connect: database.connect, onWarning })
    await expect(late).rejects.toThrow(
      'its schema is version 2, which can be served from version 2 on; this Oncebox knows 1',
    )
    expect(findSchemaProblem(await versionOf(database))).toContain('Run that one.')
    await database.close()
  })

  test('refuse a database that holds tables of something else, and leave it as it is', async () => {
    const database = await postgres.newEmptyDatabase()
    await withSession(database, (sql) => sql.unsafe('CREATE TABLE public.invoices (id int)').simple())
    const wrong = migrate({ connect: database.connect, onWarning })
    await expect(wrong).rejects.toThrow('holds no Oncebox data but other tables (such as public.invoices)')
    const [found] = await withSession(database, (sql) =>
      sql.unsafe("SELECT to_regnamespace('oncebox') AS name"),
    )
    expect(found.name).toBeNull()
    await database.close()
  })

  test('refuse a schema that another user owns, because its owner could add functions that run with our rights', async () => {
    const { address, connect, close } = await postgres.newEmptyDatabase()
    const { user } = postgres.server
    const admin = connectTo(address.replace(`//${user}:`, '//postgres:'))(1)
    await admin.unsafe(`CREATE SCHEMA oncebox AUTHORIZATION stranger; GRANT ALL ON SCHEMA oncebox TO ${user}`)
    await expect(migrate({ connect, onWarning })).rejects.toThrow(
      'The schema oncebox belongs to another user of the database ("stranger")',
    )
    await admin.unsafe(`ALTER SCHEMA oncebox OWNER TO ${user}`)
    await migrate({ connect, onWarning })
    await admin.close({ timeout: 0 })
    await close()
  })

  test('use a schema that was made beforehand, for a user who may make none', async () => {
    const { address, close } = await postgres.newEmptyDatabase()
    const { user } = postgres.server
    const admin = connectTo(address.replace(`//${user}:`, '//postgres:'))(1)
    const connect = connectTo(address.replace(/\/\/[^@]+@/, '//stranger:stranger@'))
    await admin.unsafe('CREATE SCHEMA oncebox; GRANT USAGE ON SCHEMA oncebox TO stranger').simple()
    await expect(migrate({ connect, onWarning })).rejects.toThrow(
      'Give it to the user of --database-url (ALTER SCHEMA oncebox OWNER TO "stranger")',
    )
    await admin.unsafe('GRANT ALL ON SCHEMA oncebox TO stranger')
    // It changes how the server writes names.
    await admin.unsafe('ALTER ROLE stranger SET quote_all_identifiers = on')
    await migrate({ connect, onWarning })
    expect(await hasTables(connect)).toBe(true)
    await admin.unsafe('ALTER ROLE stranger RESET quote_all_identifiers')
    await admin.close({ timeout: 0 })
    await close()
  })

  test('are never taken by a command beside the servers', async () => {
    const database = await postgres.newEmptyDatabase()
    await expect(withSession(database, requireCurrentSchema)).rejects.toThrow('Start "oncebox serve" once')
    await migrate({ connect: database.connect, onWarning })
    await withSession(database, requireCurrentSchema)
    await database.close()
  })
})
