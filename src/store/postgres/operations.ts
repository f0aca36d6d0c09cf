// Makes the operations of the store from connections to PostgreSQL.

import type { Trusted } from '../../domain/clock.ts'
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
import { createAuditLog } from '../pushes/audit-log.ts'
import { createExpiry, createOwnedPushes } from '../pushes/expiry.ts'
import { createIdempotencyKeys } from '../pushes/idempotency-keys.ts'
import { createPushLists } from '../pushes/push-lists.ts'
import { createPushes } from '../pushes/pushes.ts'
import type { PostgresDatabase } from './engine/database.ts'
import { createSteps } from './engine/run-steps.ts'
import { createImports } from './imports.ts'

export type AccountOperationsOptions = {
  now: Now
  database: Pick<PostgresDatabase, 'read' | 'transact'>
  /** Called after a commit that made files due. */
  onDue: () => void
}

export type PostgresOperationsOptions = AccountOperationsOptions & {
  trusted: Trusted
  /** The id of this process among the nodes, 16 random bytes. */
  node: Uint8Array
  damage: Pick<Damage, 'presentIntact'>
}

/** Each node that starts makes a setup link and shows it, so those of the others stay valid: the latest. */
const SETUP_LINKS = 10

export function createPostgresOperations(options: PostgresOperationsOptions) {
  return { ...createPushOperations(options), ...createAccountOperations(options) }
}

function createPushOperations({ database, onDue, damage, node, ...clocks }: PostgresOperationsOptions) {
  const steps = createSteps({ ...database, onDue })
  const parts = { ...clocks, steps }
  return {
    // The disk is that of the database server.
    pushes: createPushes({ ...parts, hasRoom: () => true }),
    idempotencyKeys: createIdempotencyKeys(parts),
    lists: createPushLists({ ...parts, damage }),
    audit: createAuditLog(steps),
    expiry: createExpiry(parts),
    imports: createImports({ database, steps, node, now: clocks.now }),
  }
}

export function createAccountOperations({ database, now, onDue }: AccountOperationsOptions) {
  const steps = createSteps({ ...database, onDue })
  const parts = { steps, now, owned: createOwnedPushes({ steps, now }) }
  return {
    accounts: createAccounts(parts),
    apiTokens: createApiTokens(parts),
    sessions: createSessions(parts),
    accountLinks: createAccountLinks({ ...parts, setupLinks: SETUP_LINKS }),
    twoFactor: createTwoFactor(steps),
    pushChoices: createPushChoices(steps),
    people: createPeople(steps),
    messageTemplates: createMessageTemplates(steps),
  }
}
