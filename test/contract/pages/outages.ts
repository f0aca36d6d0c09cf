// Test support for outages: a store that fails in several ways, and two people who signed in before.

import { afterEach, beforeEach } from 'bun:test'
import { DomainError, type OutageCode } from '../../../src/domain/errors.ts'
import { type Api, startApi } from '../../support/api.ts'
import { createFailingStore, type Fails } from '../../support/failing-store.ts'
import { createPeople, type People, type Person } from '../../support/people.ts'

export const ANN = 'ann@example.org'
export const BOB = 'bob@example.org'

export const away = (code: OutageCode = 'overloaded') => new DomainError(code, 'away')
/** Lets every operation fail, as if the database server were down. */
export const NOTHING: Fails = () => away()
/** Sessions are found, then every other operation fails. */
const AFTER_SESSION: Fails = (operation) => (operation === 'sessions.findByHash' ? null : away())
/** Reads work and writes fail, as with a locked or read-only database. */
const READ_ONLY: Fails = (operation) => (/\.(find|get|list|count|has|open)/.test(operation) ? null : away())
const FULL: Fails = (operation) => (READ_ONLY(operation) === null ? null : away('disk_full'))

export const OUTAGES: [string, Fails, OutageCode][] = [
  ['nothing answers', NOTHING, 'overloaded'],
  ['only the session can be read', AFTER_SESSION, 'overloaded'],
  ['only reads work', READ_ONLY, 'overloaded'],
  ['the disk is full', FULL, 'disk_full'],
]

/** Starts an instance for each test. Ann is an administrator, Bob is not; both are signed in. */
export function useOutages() {
  const store = createFailingStore()
  let at: { api: Api; people: People; ann: Person; bob: Person }
  beforeEach(async () => {
    store.heal()
    const api = await startApi({ flags: { signups: 'true' }, interpose: store.interpose })
    const people = createPeople(api)
    await api.addAccount(ANN, { isAdmin: true })
    await api.addAccount(BOB)
    at = { api, people, ann: await people.signIn(ANN), bob: await people.signIn(BOB) }
  })
  afterEach(async () => {
    store.heal()
    await at.api.close()
  })

  /** Creates a push of Bob's. */
  async function createOwned(more: Record<string, unknown> = {}): Promise<string> {
    const { apiToken } = await at.api.apiTokens().createApiToken({ email: BOB })
    const push = { payload: 'x', retrieval_step: true, ...more }
    return (await at.api.create(push, { token: apiToken })).url_token
  }

  return {
    get api() {
      return at.api
    },
    get people() {
      return at.people
    },
    get ann() {
      return at.ann
    },
    get bob() {
      return at.bob
    },
    store,
    createOwned,
  }
}
