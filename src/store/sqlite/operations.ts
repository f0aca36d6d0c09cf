// Makes the operations of the store from an open database.

import type { Now } from '../../domain/time.ts'
import { createAccountLinks } from '../accounts/account-links.ts'
import { createAccounts } from '../accounts/accounts.ts'
import { createApiTokens } from '../accounts/api-tokens.ts'
import { createMessageTemplates } from '../accounts/message-templates.ts'
import { createPeople } from '../accounts/people.ts'
import { createPushChoices } from '../accounts/push-choices.ts'
import { createSessions } from '../accounts/sessions.ts'
import { createTwoFactor } from '../accounts/two-factor.ts'
import { createDamage } from '../every-engine/damage.ts'
import type { Connection } from './engine/database.ts'
import type { Transact, TransactAlone } from './engine/group-commit.ts'
import { createSteps } from './engine/run-steps.ts'
import type { FileRows } from './files/file-rows.ts'
import { createImports } from './imports/imports.ts'
import { createAddressShares } from './pushes/address-shares.ts'
import { createAuditLog, createAuditRows } from './pushes/audit-rows.ts'
import { createDoubtfulKeys } from './pushes/doubtful-keys.ts'
import { createExpiry } from './pushes/expiry.ts'
import { createIdempotencyKeys, createIdempotencyRows } from './pushes/idempotency-keys.ts'
import { createOwnedPushes } from './pushes/owned-pushes.ts'
import { createPushKeys } from './pushes/push-keys.ts'
import { createPushLists } from './pushes/push-lists.ts'
import { createPushRemoval } from './pushes/push-removal.ts'
import { createPushRows } from './pushes/push-rows.ts'
import { createPushes } from './pushes/pushes.ts'

export type RowsOptions = {
  connection: Connection
  transact: Transact
  now: Now
  /** The time by which something may be destroyed. */
  certain: Now
  files: FileRows
  /** False while the disk has too little room for entries of logs that may be left out. */
  hasRoom?: () => boolean
  /** Called within a transaction that destroys something. */
  onDestroyed: () => void
  onError: (cause: unknown) => void
}

export type Rows = ReturnType<typeof createRows>

/** Access to the tables that several operations write. */
export function createRows({ onError, ...options }: RowsOptions) {
  const { connection, transact, now, certain, files, onDestroyed } = options
  const audit = createAuditRows(connection, options.hasRoom ?? (() => true))
  const keys = createPushKeys(connection)
  const doubtfulKeys = createDoubtfulKeys({ connection, keys, transact, onDestroyed, onError })
  const idempotency = createIdempotencyRows(connection, onDestroyed)
  const rows = createPushRows({ connection, audit, keys, doubtfulKeys, files, idempotency, onDestroyed })
  const removal = createPushRemoval({ connection, rows, audit, doubtfulKeys, transact, now })
  const damage = createDamage(onError)
  return {
    connection,
    transact,
    now,
    certain,
    files,
    audit,
    doubtfulKeys,
    idempotency,
    rows,
    removal,
    damage,
  }
}

export function createPushOperations(rows: Rows, { transactAlone }: { transactAlone: TransactAlone }) {
  return {
    pushes: createPushes({ ...rows, shares: createAddressShares(rows.connection) }),
    idempotencyKeys: createIdempotencyKeys(rows),
    lists: createPushLists(rows),
    audit: createAuditLog(rows),
    expiry: createExpiry(rows),
    damage: rows.damage,
    imports: createImports({ ...rows, transactAlone }),
  }
}

export function createAccountOperations(rows: Rows) {
  const { connection, transact, now } = rows
  const steps = createSteps(connection.database, transact)
  const parts = { steps, now, owned: createOwnedPushes(rows) }
  return {
    accounts: createAccounts(parts),
    apiTokens: createApiTokens(parts),
    sessions: createSessions(parts),
    accountLinks: createAccountLinks({ ...parts, setupLinks: 1 }),
    twoFactor: createTwoFactor(steps),
    pushChoices: createPushChoices(steps),
    people: createPeople({ steps, isLive: '(expired_on IS NOT NULL) = 0' }),
    messageTemplates: createMessageTemplates(steps),
  }
}
