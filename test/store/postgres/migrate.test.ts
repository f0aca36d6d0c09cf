// Migrations of PostgreSQL: one node migrates, compatible nodes keep serving, foreign tables stay unchanged.

import { expect, test } from 'bun:test'
import { getTableConfig, type SQLiteColumn } from 'drizzle-orm/sqlite-core'
import {
  findSchemaProblem,
  MIGRATIONS,
  migrate,
  readSchemaVersion,
  requireCurrentSchema,
} from '../../../src/store/postgres/migrate.ts'
import * as tables from '../../../src/store/tables.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { usePostgres } from '../../support/use-postgres.ts'

const postgres = usePostgres()

const KNOWN = MIGRATIONS.length
const [first = { sql: '', compatibleFrom: 0 }, ...later] = MIGRATIONS
const next = (compatibleFrom: number) => [
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

const TYPES: Record<string, string> = { integer: 'bigint', int: 'integer', text: 'text', blob: 'bytea' }

function typeOf(column: SQLiteColumn): string | undefined {
  return column.dataType === 'boolean' ? 'boolean' : TYPES[column.getSQLType().replace(/ .*/, '')]
}

postgres.describe('migrations of PostgreSQL', () => {
  test('create exactly the tables and columns that the program knows', async () => {
    const database = await postgres.newDatabase()
    const found = await withSession(database, (sql) =>
      sql.unsafe(
        `SELECT relname || '.' || attname || ' ' || format_type(atttypid, atttypmod) || CASE WHEN attnotnull THEN '' ELSE '?' END
           AS place FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
         WHERE relnamespace = 'oncebox'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped`,
      ),
    )
    const { home: _, instance: __, pushLinks: ___, linksFiled: ____, ...both } = tables
    const own = ['schema_versions', 'instance', 'nodes']
    const places = found.map(({ place }: { place: string }) => place)
    const known = Object.values(both)
      .map(getTableConfig)
      .flatMap(({ name, columns }) =>
        columns.map((column) => `${name}.${column.name} ${typeOf(column)}${column.notNull ? '' : '?'}`),
      )
    expect(
      places.filter((place: string) => !own.some((table) => place.startsWith(`${table}.`))).sort(),
    ).toEqual(known.sort())
    await database.close()
  })

  test('are applied by one node, while other starting nodes wait and then serve', async () => {
    const database = await postgres.newEmptyDatabase()
    const slow = [{ ...first, sql: `${first.sql}; SELECT pg_sleep(0.5)` }, ...later]
    const start = () => migrate({ connect: database.connect, migrations: slow })
    await Promise.all([start(), start(), start()])
    expect(await versionOf(database)).toEqual({ version: KNOWN, compatibleFrom: 1 })
    await database.close()
  })

  test('stop waiting for a hanging node with a message', async () => {
    const database = await postgres.newEmptyDatabase()
    await withSession(database, async (sql) => {
      await sql.unsafe(`SELECT pg_advisory_lock(22322573991890776)`)
      const waiting = migrate({ connect: database.connect, patience: 300 })
      await expect(waiting).rejects.toThrow('another node migrates it')
    })
    await database.close()
  })

  test('leave the tables as they were when a step fails', async () => {
    const database = await postgres.newDatabase()
    const broken = [...next(1), { sql: 'CREATE TABLE extra (id int); SELECT nonsense', compatibleFrom: 1 }]
    await expect(migrate({ connect: database.connect, migrations: broken })).rejects.toThrow()
    expect(await versionOf(database)).toEqual({ version: KNOWN, compatibleFrom: 1 })
    const [extra] = await withSession(database, (sql) => sql.unsafe("SELECT to_regclass('extra') AS name"))
    expect(extra.name).toBeNull()
    await database.close()
  })

  test('give up if a table is in use, and change nothing', async () => {
    const database = await postgres.newDatabase()
    const options = { connect: database.connect, migrations: next(1), patience: 100 }
    await withSession(database, async (sql) => {
      await sql.unsafe('BEGIN; SELECT * FROM pushes').simple()
      await expect(migrate(options)).rejects.toThrow('something uses its tables')
    })
    expect((await versionOf(database)).version).toBe(KNOWN)
    await migrate(options)
    expect((await versionOf(database)).version).toBe(KNOWN + 1)
    await database.close()
  })

  test('of a newer program let an older one serve if they are marked as compatible', async () => {
    const database = await postgres.newDatabase()
    await migrate({ connect: database.connect, migrations: next(1) })
    expect(await versionOf(database)).toEqual({ version: KNOWN + 1, compatibleFrom: 1 })
    await migrate({ connect: database.connect })
    expect(await versionOf(database)).toEqual({ version: KNOWN + 1, compatibleFrom: 1 })
    expect(findSchemaProblem(await versionOf(database))).toBeNull()
    await database.close()
  })

  test('of a newer program keep an older one out if they are incompatible', async () => {
    const database = await postgres.newDatabase()
    await migrate({ connect: database.connect, migrations: next(KNOWN + 1) })
    const late = migrate({ connect: database.connect })
    await expect(late).rejects.toThrow(
      `its schema is version ${KNOWN + 1}, which can be served from version ${KNOWN + 1} on; this Oncebox knows ${KNOWN}`,
    )
    expect(findSchemaProblem(await versionOf(database))).toContain('Run that one.')
    await database.close()
  })

  test('refuse a database with foreign tables, and do not change it', async () => {
    const database = await postgres.newEmptyDatabase()
    await withSession(database, (sql) => sql.unsafe('CREATE TABLE public.invoices (id int)').simple())
    const wrong = migrate({ connect: database.connect })
    await expect(wrong).rejects.toThrow('holds no Oncebox data but other tables (such as public.invoices)')
    const [found] = await withSession(database, (sql) =>
      sql.unsafe("SELECT to_regnamespace('oncebox') AS name"),
    )
    expect(found.name).toBeNull()
    await database.close()
  })

  test('are never applied by a command beside the servers', async () => {
    const database = await postgres.newEmptyDatabase()
    await expect(withSession(database, requireCurrentSchema)).rejects.toThrow('Start "oncebox serve" once')
    await migrate({ connect: database.connect })
    await withSession(database, requireCurrentSchema)
    await database.close()
  })
})
