// The versions of the tables: the migrations that lead to each, the one that a database has, and who may serve it.

import type { SQL } from 'bun'
import { DomainError } from '../../../domain/errors.ts'
import type { Connect } from '../engine/connection.ts'
import { onOwnConnection } from '../engine/own-connection.ts'
import { SCHEMA } from '../engine/schema-name.ts'
import tables from './migrations/0001-tables.sql' with { type: 'text' }

/** A step, and the lowest version of the program's schema that may serve the tables after it. */
export type Migration = { sql: string; compatibleFrom: number }

export const MIGRATIONS: readonly Migration[] = [{ sql: tables, compatibleFrom: 1 }]

/** The version of the tables, and the lowest version of a program that may serve them. Both are 0 in an empty database. */
export type SchemaVersion = { version: number; compatibleFrom: number }

/** Both are 0 in a database without our tables. Fit for a connection on which functions of other users may be found first. */
export async function readSchemaVersion(session: Pick<SQL, 'unsafe'>): Promise<SchemaVersion> {
  const [found] = await session.unsafe(
    `SELECT pg_catalog.to_regclass('${SCHEMA}.schema_versions') IS NOT NULL AS is_there`,
  )
  if (!found.is_there) return { version: 0, compatibleFrom: 0 }
  const [row] = await session.unsafe(
    `SELECT coalesce(pg_catalog.max(version), 0) AS version, coalesce(pg_catalog.max(compatible_from), 0) AS lowest
       FROM ${SCHEMA}.schema_versions`,
  )
  return { version: row.version, compatibleFrom: row.lowest }
}

/** Whether the database holds data of Oncebox, of whatever version. */
export function hasTables(connect: Connect): Promise<boolean> {
  return onOwnConnection(connect, async (session) => (await readSchemaVersion(session)).version > 0)
}

/** Why a program with this many migrations may not serve such tables; null when it may. */
export function findSchemaProblem(found: SchemaVersion, known = MIGRATIONS.length): string | null {
  if (found.version <= known || found.compatibleFrom <= known) return null
  return (
    `The database was migrated by a newer Oncebox (its schema is version ${found.version}, which can be served from version ` +
    `${found.compatibleFrom} on; this Oncebox knows ${known}). Run that one.`
  )
}

/** Throws `conflict` when a program with these migrations may not serve the tables. */
export async function requireServable(
  session: SQL,
  migrations: readonly Migration[],
): Promise<SchemaVersion> {
  const found = await readSchemaVersion(session)
  const problem = findSchemaProblem(found, migrations.length)
  if (problem !== null) throw new DomainError('conflict', problem)
  return found
}

/** For commands beside the servers, which never migrate. */
export async function requireCurrentSchema(session: Pick<SQL, 'unsafe'>): Promise<void> {
  const found = await readSchemaVersion(session)
  const problem = findSchemaProblem(found)
  if (problem !== null) throw new DomainError('conflict', problem)
  if (found.version >= MIGRATIONS.length) return
  throw new DomainError(
    'conflict',
    found.version === 0
      ? 'The database holds no Oncebox data. Start "oncebox serve" once, or name the right database with --database-url.'
      : 'The database was written by an older Oncebox. Start "oncebox serve" once to bring it up to date.',
  )
}
