// Makes the operations of the store from an open database.

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
import { createDamage } from '../every-engine/damage.ts'
import type { ImportStore } from '../import-face.ts'
import { createAuditLog } from '../pushes/audit-log.ts'
import { createExpiry, createOwnedPushes } from '../pushes/expiry.ts'
import { createIdempotencyKeys } from '../pushes/idempotency-keys.ts'
import { createImport, createImportLook } from '../pushes/imports.ts'
import { createPushLists } from '../pushes/push-lists.ts'
import { createPushes } from '../pushes/pushes.ts'
import type { TransactAlone } from './engine/group-commit.ts'
import type { SqliteSteps } from './engine/run-steps.ts'

export type AccountOperationsOptions = { steps: SqliteSteps; now: Now }

export type PushOperationsOptions = AccountOperationsOptions & {
  trusted: Trusted
  transactAlone: TransactAlone
  /** False while the disk has too little room for entries of logs that may be left out. */
  hasRoom: () => boolean
  onError: (cause: unknown) => void
}

export function createPushOperations({ transactAlone, onError, ...options }: PushOperationsOptions) {
  const { steps, now } = options
  const damage = createDamage(onError)
  const look = createImportLook(steps)
  const step = createImport(async (one) => steps.within(one), now)
  const imports: ImportStore = {
    importAll: (work) => transactAlone(() => work(step)),
    isKnown: look.isKnown,
    look,
  }
  return {
    pushes: createPushes(options),
    idempotencyKeys: createIdempotencyKeys(options),
    lists: createPushLists({ ...options, damage }),
    audit: createAuditLog(steps),
    expiry: createExpiry(options),
    damage,
    imports,
  }
}

export function createAccountOperations({ steps, now }: AccountOperationsOptions) {
  const parts = { steps, now, owned: createOwnedPushes({ steps, now }) }
  return {
    accounts: createAccounts(parts),
    apiTokens: createApiTokens(parts),
    sessions: createSessions(parts),
    accountLinks: createAccountLinks({ ...parts, setupLinks: 1 }),
    twoFactor: createTwoFactor(steps),
    pushChoices: createPushChoices(steps),
    people: createPeople(steps),
    messageTemplates: createMessageTemplates(steps),
  }
}
