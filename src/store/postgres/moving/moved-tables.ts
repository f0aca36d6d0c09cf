// The tables of PostgreSQL that a move carries, by the names that all engines share.

import type { PgTable } from 'drizzle-orm/pg-core'
import { MOVED_TABLES } from '../../moving/tables.ts'
import type { MovedTable } from '../../moving-face.ts'
import { instanceKeys } from '../schema/instance-schema.ts'
import { columnNameOf } from '../schema/rows.ts'
import {
  accountLinks,
  accounts,
  apiTokens,
  filesDue,
  idempotencyKeys,
  imported,
  messageTemplates,
  pushChoices,
  pushes,
  recoveryCodes,
  sessions,
} from '../schema/schema.ts'

export const TABLES: Readonly<Record<MovedTable | 'pushes', PgTable>> = {
  ...{ instanceKeys, accounts, apiTokens, recoveryCodes, sessions, accountLinks, messageTemplates },
  ...{ pushChoices, imported, idempotencyKeys, filesDue, pushes },
}

export const keyNames = (table: MovedTable | 'pushes') =>
  table === 'pushes' ? ['id'] : MOVED_TABLES[table].key

/** The columns of its order. Texts are ordered by bytes: their order must not depend on the language of the server. */
export function orderOf(table: MovedTable | 'pushes'): string[] {
  const names = keyNames(table).map((name) => columnNameOf(TABLES[table], name))
  return table === 'filesDue' ? names.map((name) => `${name} COLLATE "C"`) : names
}
