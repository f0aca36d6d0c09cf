// Creates the operations of the store from steps, for whichever engine runs them.

import type { Appearance } from '../domain/appearance.ts'
import { DamageError } from '../domain/errors.ts'
import { createAccountLinks } from './accounts/account-links.ts'
import { createAccounts } from './accounts/accounts.ts'
import { createApiTokens } from './accounts/api-tokens.ts'
import { createIdentities } from './accounts/identities.ts'
import { createPasskeys } from './accounts/passkeys.ts'
import { createPeople } from './accounts/people.ts'
import { createPreferences } from './accounts/preferences.ts'
import { createSessions } from './accounts/sessions.ts'
import { createTwoFactor } from './accounts/two-factor.ts'
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
import { select, statement } from './statements.ts'
import { first, type Parts, run, type Steps } from './steps.ts'
import { appearance } from './tables.ts'

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
    identities: createIdentities(parts),
    passkeys: createPasskeys(parts),
    people: createPeople(steps),
    appearance: createAppearance(steps),
    webhooks: createWebhooks(parts),
  }
}

const FIND_APPEARANCE = select(appearance, '')
const KEEP_APPEARANCE = statement(
  `INSERT INTO appearance (id, name, contact, notice) VALUES (1, $1, $2, $3)
  ON CONFLICT (id) DO UPDATE SET name = excluded.name, contact = excluded.contact, notice = excluded.notice`,
)

/** The appearance that administrators have set: one row. */
function createAppearance({ read, write }: Steps) {
  async function find(): Promise<Appearance | null> {
    const found = await read(() => first(FIND_APPEARANCE))
    return found && { name: found.name, contact: found.contact, notice: found.notice }
  }

  return {
    find,
    keep: ({ name, contact, notice }: Appearance) =>
      write(() => run(KEEP_APPEARANCE, name, contact, notice), { grows: true }),
  }
}

/** How many damaged records are reported one by one. Further ones are only counted. */
const MOST_REPORTED = 100
const MOST_KNOWN = 10_000

/** Reports each damaged place to `onError` once. Very large counts are not exact. */
function createDamage(onError: (cause: unknown) => void) {
  const known = new Set<string>()

  function report(cause: unknown): void {
    if (cause instanceof DamageError) {
      if (known.has(cause.message) || known.size === MOST_KNOWN) return
      known.add(cause.message)
      if (known.size > MOST_REPORTED) return
    }
    onError(cause)
  }

  return {
    report,
    /** Counts the damaged places found since the start. */
    count: () => known.size,
  }
}
