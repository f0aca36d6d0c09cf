// Makes the operations of the store from connections to PostgreSQL.

import type { Now } from '../../domain/time.ts'
import { createAccountLinks } from '../accounts/account-links.ts'
import { createAccounts } from '../accounts/accounts.ts'
import { createApiTokens } from '../accounts/api-tokens.ts'
import { createMessageTemplates } from '../accounts/message-templates.ts'
import { createPeople } from '../accounts/people.ts'
import { createPushChoices } from '../accounts/push-choices.ts'
import { createSessions } from '../accounts/sessions.ts'
import { createTwoFactor } from '../accounts/two-factor.ts'
import type { Damage } from '../every-engine/damage.ts'
import type { PostgresDatabase } from './engine/database.ts'
import { createSteps } from './engine/run-steps.ts'
import { createExpiry } from './expiry/expiry.ts'
import { createImports } from './imports/imports.ts'
import { createAuditLog } from './lists/audit-log.ts'
import { createPushLists } from './lists/push-lists.ts'
import { createIdempotencyKeys } from './pushes/idempotency-keys.ts'
import { createOwnedPushes } from './pushes/owned-pushes.ts'
import { createPushRemoval } from './pushes/push-removal.ts'
import { createPushes } from './pushes/pushes.ts'

export type PostgresOperationsOptions = {
  database: Pick<PostgresDatabase, 'read' | 'transact' | 'write'>
  now: Now
  /** The time by which something may be destroyed. */
  certain: Now
  /** Given the database's clock in milliseconds, whenever it was read. */
  observe: (databaseTime: number) => void
  /** The id of this process among the nodes, 16 random bytes. */
  node: Uint8Array
  damage: Pick<Damage, 'presentIntact'>
  /** Called after a commit that made files due. */
  onDue: () => void
}

/** Each node that starts makes a setup link and shows it, so those of the others stay valid: the latest. */
const SETUP_LINKS = 10

export function createPostgresOperations(options: PostgresOperationsOptions) {
  return { ...createPushOperations(options), ...createAccountOperations(options) }
}

function createPushOperations(options: PostgresOperationsOptions) {
  const { now, certain, damage } = options
  const { read, transact } = options.database
  return {
    pushes: createPushes(options),
    idempotencyKeys: createIdempotencyKeys(options),
    lists: createPushLists({ read, transact, now, certain, damage }),
    audit: createAuditLog(read),
    expiry: createExpiry(options),
    imports: createImports(options),
  }
}

export function createAccountOperations({
  database,
  now,
  certain,
  onDue,
}: Pick<PostgresOperationsOptions, 'database' | 'now' | 'certain' | 'onDue'>) {
  const { transact } = database
  const steps = createSteps(database)
  const owned = createOwnedPushes({ removeSome: createPushRemoval({ transact, certain }), onDue })
  const parts = { steps, now, owned }
  return {
    accounts: createAccounts(parts),
    apiTokens: createApiTokens(parts),
    sessions: createSessions(parts),
    accountLinks: createAccountLinks({ ...parts, setupLinks: SETUP_LINKS }),
    twoFactor: createTwoFactor(steps),
    pushChoices: createPushChoices(steps),
    people: createPeople({ steps, isLive: 'expired_on IS NULL' }),
    messageTemplates: createMessageTemplates(steps),
  }
}
