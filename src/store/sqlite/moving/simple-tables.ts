// The tables that a move carries row by row, each with the check of its checksum and how that is written.

import type { Database } from 'bun:sqlite'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { DamageError } from '../../../domain/errors.ts'
import { MOVED_TABLES, pick, STEP } from '../../moving/tables.ts'
import type { Batch, MovedTable, MovingKey, MovingRow } from '../../moving-face.ts'
import { checksumOfLink, requireIntactLink } from '../accounts/account-links.ts'
import { checksumOfAccount, presentAccount } from '../accounts/account-rows.ts'
import { checksumOfToken, presentToken } from '../accounts/api-tokens.ts'
import { checksumOfTemplate, presentTemplate } from '../accounts/message-templates.ts'
import { checksumOfChoices, presentChoices } from '../accounts/push-choices.ts'
import { checksumOfSession, requireIntactSession } from '../accounts/sessions.ts'
import { prepareInsert, preparePages } from '../engine/prepared.ts'
import * as schema from '../engine/schema.ts'

/** All but the table whose values lie in slots. */
export type SimpleTable = Exclude<MovedTable, 'idempotencyKeys'>

export type RowReader = (after: MovingKey | null) => Batch<MovingRow>
export type RowWriter = (row: MovingRow) => void

type Moving = { reader(database: Database): RowReader; writer(database: Database): RowWriter }

export const SIMPLE_TABLES: Readonly<Record<SimpleTable, Moving>> = {
  instanceKeys: unsummed('instanceKeys', schema.instanceKeys),
  accounts: summed('accounts', schema.accounts, { check: presentAccount, checksumOf: checksumOfAccount }),
  apiTokens: summed('apiTokens', schema.apiTokens, { check: presentToken, checksumOf: checksumOfToken }),
  recoveryCodes: unsummed('recoveryCodes', schema.recoveryCodes),
  sessions: summed('sessions', schema.sessions, {
    check: requireIntactSession,
    checksumOf: checksumOfSession,
  }),
  accountLinks: summed('accountLinks', schema.accountLinks, {
    check: requireIntactLink,
    checksumOf: checksumOfLink,
  }),
  messageTemplates: summed('messageTemplates', schema.messageTemplates, {
    check: presentTemplate,
    checksumOf: checksumOfTemplate,
  }),
  pushChoices: summed('pushChoices', schema.pushChoices, {
    check: presentChoices,
    checksumOf: checksumOfChoices,
  }),
  imported: unsummed('imported', schema.imported),
  filesDue: {
    ...unsummed('filesDue', schema.filesDue),
    // An upload that never ended is due at once: nobody goes on with it.
    reader: (database) =>
      readerOf('filesDue', schema.filesDue, { database, present: (row) => ({ ...row, at: row.at ?? 0 }) }),
  },
}

type Checksums<Row> = { check: (row: Row) => unknown; checksumOf: (row: Row) => number }

function summed<T extends SQLiteTable>(
  name: SimpleTable,
  table: T,
  { check, checksumOf }: Checksums<T['$inferSelect']>,
): Moving {
  const present = (row: T['$inferSelect']) => {
    check(row)
    return row
  }
  return {
    reader: (database) => readerOf(name, table, { database, present }),
    writer: (database) => {
      const insert = prepareInsert(database, table)
      return (moved) => {
        const row: T['$inferSelect'] = moved
        insert({ ...row, checksum: checksumOf(row) })
      }
    },
  }
}

function unsummed<T extends SQLiteTable>(name: SimpleTable, table: T): Moving {
  return {
    reader: (database) => readerOf(name, table, { database, present: (row) => row }),
    writer: (database) => {
      const insert = prepareInsert(database, table)
      return (row) => insert(row)
    },
  }
}

type Reading<Row> = { database: Database; present: (row: Row) => Readonly<Record<string, unknown>> }

function readerOf<T extends SQLiteTable>(
  name: SimpleTable,
  table: T,
  { database, present }: Reading<T['$inferSelect']>,
): RowReader {
  const { columns, key } = MOVED_TABLES[name]
  const read = preparePages(database, table, { key, step: STEP })
  return (after) => batchOf(read(after), { key, present: (row) => pick(present(row), columns) })
}

type Presenting<Row> = { key: readonly string[]; present: (row: Row) => MovingRow }

/** Leaves damaged rows out, and names them. */
export function batchOf<Row extends object>(
  rows: readonly Row[],
  { key, present }: Presenting<Row>,
): Batch<MovingRow> {
  const items: MovingRow[] = []
  const damaged: string[] = []
  for (const row of rows) {
    try {
      items.push(present(row))
    } catch (cause) {
      if (!(cause instanceof DamageError)) throw cause
      damaged.push(cause.place)
    }
  }
  const last = rows.at(-1)
  const isEnd = last === undefined || rows.length < STEP
  return { items, damaged, next: isEnd ? null : Object.values(pick({ ...last }, key)) }
}
