// Makes the operations of the store from steps, whichever engine runs them.

import type { Keyring } from '../../crypto/keyring.ts'
import type { Trusted } from '../../domain/clock.ts'
import type { Now } from '../../domain/time.ts'
import { createAccountLinks } from '../accounts/account-links.ts'
import { createAccounts } from '../accounts/accounts.ts'
import { createApiTokens } from '../accounts/api-tokens.ts'
import { createPeople } from '../accounts/people.ts'
import { createPreferences } from '../accounts/preferences.ts'
import { createSessions } from '../accounts/sessions.ts'
import { createTwoFactor } from '../accounts/two-factor.ts'
import { createAppearance } from '../every-engine/appearance.ts'
import { createDamage } from '../every-engine/damage.ts'
import { createSharedState } from '../every-engine/shared-state.ts'
import { createEventLog } from '../notices/event-log.ts'
import { createOutbox } from '../notices/outbox.ts'
import { createWebhooks } from '../notices/webhooks.ts'
import { createAuditLog } from '../pushes/audit-log.ts'
import { createExpiry } from '../pushes/expiry.ts'
import { createIdempotencyKeys } from '../pushes/idempotency-keys.ts'
import { createPushLists } from '../pushes/push-lists.ts'
import { createPushes } from '../pushes/pushes.ts'
import { createRequests } from '../requests/requests.ts'
import type { Steps } from '../steps.ts'

export type AccountOperationsOptions = {
  steps: Steps
  now: Now
  /** The latest setup links that stay valid: each node that starts makes one and shows it. */
  setupLinks: number
}

export type OperationsOptions = AccountOperationsOptions & {
  trusted: Trusted
  keyring: Keyring
  /** False while the disk has too little room for entries of logs that may be left out. */
  hasRoom: () => boolean
  onError: (cause: unknown) => void
}

export function createOperations(options: OperationsOptions) {
  return {
    ...createAccountOperations(options),
    pushes: createPushes(options),
    idempotencyKeys: createIdempotencyKeys(options),
    lists: createPushLists(options),
    audit: createAuditLog(options.steps),
    expiry: createExpiry(options),
    events: createEventLog(options),
    requests: createRequests(options),
    shared: createSharedState(options),
    damage: createDamage(options.onError),
    outbox: createOutbox(options),
    webhooks: createWebhooks(options),
  }
}

export function createAccountOperations(options: AccountOperationsOptions) {
  const { steps } = options
  return {
    accounts: createAccounts(options),
    apiTokens: createApiTokens(options),
    sessions: createSessions(options),
    accountLinks: createAccountLinks(options),
    twoFactor: createTwoFactor(steps),
    preferences: createPreferences(steps),
    people: createPeople(steps),
    appearance: createAppearance(steps),
  }
}
