// A move carries every column of both engines, or it is said here why not.

import { expect, test } from 'bun:test'
import { getTableColumns, is } from 'drizzle-orm'
import { PgTable } from 'drizzle-orm/pg-core'
import { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { MOVED_TABLES, PUSH_COLUMNS } from '../../src/store/moving/tables.ts'
import * as postgresInstance from '../../src/store/postgres/schema/instance-schema.ts'
import * as postgresRows from '../../src/store/postgres/schema/schema.ts'
import * as sqlite from '../../src/store/sqlite/engine/schema.ts'

const postgres = { ...postgresRows, ...postgresInstance }

const OF_PUSHES = {
  pushes: PUSH_COLUMNS.push,
  pushSecrets: PUSH_COLUMNS.secrets,
  pushLabels: PUSH_COLUMNS.labels,
  liveShares: PUSH_COLUMNS.share,
  pushFiles: PUSH_COLUMNS.files,
  auditEntries: PUSH_COLUMNS.entries,
}

const MOVED: Record<string, readonly string[]> = {
  ...Object.fromEntries(Object.entries(MOVED_TABLES).map(([name, { columns }]) => [name, columns])),
  ...OF_PUSHES,
  instance: ['clockMark', 'clockDoubted'],
  bucketFolder: ['tag', 'session', 'isUsed'],
}

/** Follows from the rest, or belongs to one engine alone. */
const LEFT_OUT: Record<string, readonly string[]> = {
  instanceKeys: ['isUnused'],
  instance: ['id', 'checksum', 'tag', 'beats', 'place', 'restoredAt', 'halted'],
  bucketFolder: ['id', 'mark', 'address'],
  pushes: ['checksum', 'version', 'entries', 'lastEntry'],
  pushSecrets: ['checksum', 'keySlot'],
  auditEntries: ['checksum', 'id', 'n', 'previous'],
  idempotencyKeys: ['checksum', 'slot'],
  filesDue: ['node'],
}

/** Not moved as tables: values in slots, sums, places, and what lives no longer than a process. */
const OTHER_TABLES = [
  ...[
    'schemaVersions',
    'pushKeys',
    'idempotencyAnswers',
    'addressShares',
    'home',
    'arrivals',
    'moves',
    'operations',
    'nodes',
  ],
  ...['spentPoints', 'usedNonces', 'leases', 'filesRead', 'twoFactorOffers'],
]

test.each([
  ['SQLite', sqlite, SQLiteTable],
  ['PostgreSQL', postgres, PgTable],
])('every column of %s is moved, or named as left out', (_, schema, kind) => {
  const tables = Object.entries(schema as Record<string, unknown>).filter(([, table]) =>
    is(table, kind as never),
  )
  const unknown = tables
    .filter(([name]) => !OTHER_TABLES.includes(name))
    .flatMap(([name, table]) =>
      Object.keys(getTableColumns(table as SQLiteTable))
        .filter((column) => !MOVED[name]?.includes(column) && !LEFT_OUT[name]?.includes(column))
        .filter((column) => column !== 'checksum' || name === 'pushFiles')
        .map((column) => `${name}.${column}`),
    )
  expect(tables.length).toBeGreaterThan(15)
  expect(unknown).toEqual([])
})

test('every moved column is there in both engines', () => {
  const answerOf = { sqlite: ['answer'], postgres: [] as string[] }
  for (const [engine, schema] of Object.entries({ sqlite, postgres })) {
    const missing = Object.entries(MOVED).flatMap(([name, columns]) => {
      const known = Object.keys(getTableColumns(Reflect.get(schema, name) as SQLiteTable))
      const elsewhere = name === 'pushSecrets' ? ['wrappedKey'] : []
      const others = name === 'idempotencyKeys' ? answerOf[engine as 'sqlite'] : elsewhere
      return columns.filter((column) => !known.includes(column) && !others.includes(column))
    })
    expect(missing).toEqual([])
  }
})
