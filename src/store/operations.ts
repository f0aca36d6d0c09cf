// Makes the operations of the store from steps, whichever engine runs them.

import { createAccountLinks } from './accounts/account-links.ts'
import { createAccounts } from './accounts/accounts.ts'
import { createApiTokens } from './accounts/api-tokens.ts'
import { createPeople } from './accounts/people.ts'
import { createPreferences } from './accounts/preferences.ts'
import { createSessions } from './accounts/sessions.ts'
import { createTwoFactor } from './accounts/two-factor.ts'
import { createAppearance } from './appearance.ts'
import { createDamage } from './damage.ts'
import { createHealth } from './health.ts'
import { createEventLog } from './notices/event-log.ts'
import { createOutbox } from './notices/outbox.ts'
import { createWebhooks } from './notices/webhooks.ts'
import { createAuditLog } from './pushes/audit-log.ts'
import { createExpiry } from './pushes/expiry.ts'
import { createIdempotencyKeys } from './pushes/idempotency-keys.ts'
import { createPushLists } from './pushes/push-lists.ts'
import { createPushes } from './pushes/pushes.ts'
import { createRequests } from './requests.ts'
import { createSharedState } from './shared-state.ts'
import type { Parts } from './steps.ts'

export function createOperations(parts: Parts) {
  return {
    ...createAccountOperations(parts),
    pushes: createPushes(parts),
    idempotencyKeys: createIdempotencyKeys(parts),
    lists: createPushLists(parts),
    audit: createAuditLog(parts.steps),
    expiry: createExpiry(parts),
    events: createEventLog(parts),
    requests: createRequests(parts),
    health: createHealth(parts),
    shared: createSharedState(parts),
    damage: createDamage(parts.onError),
    outbox: createOutbox(parts),
  }
}

export function createAccountOperations(parts: Pick<Parts, 'steps' | 'now' | 'trusted' | 'setupLinks'>) {
  const { steps } = parts
  return {
    accounts: createAccounts(parts),
    apiTokens: createApiTokens(parts),
    sessions: createSessions(parts),
    accountLinks: createAccountLinks(parts),
    twoFactor: createTwoFactor(steps),
    preferences: createPreferences(steps),
    people: createPeople(steps),
    appearance: createAppearance(steps),
    webhooks: createWebhooks(parts),
  }
}
