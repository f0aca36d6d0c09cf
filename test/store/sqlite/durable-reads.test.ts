// Every read of the store while a sync is running: an answer that something has ended waits for the sync, and
// no other answer does.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { newKeyFile, parseKeyFile } from '../../../src/crypto/keyring.ts'
import { createOperations } from '../../../src/store/operations.ts'
import { openLinks } from '../../../src/store/sqlite/links.ts'
import { migrate } from '../../../src/store/sqlite/migrate.ts'
import { createDrive, createSteps } from '../../../src/store/sqlite/run-steps.ts'
import type { Parts } from '../../../src/store/steps.ts'
import { START } from '../../support/instance.ts'
import { examplePush, exampleRequest, storePush, VISIT, view } from '../../support/store.ts'

type Operations = ReturnType<typeof createOperations>
type Ask = (store: Operations) => Promise<unknown>
/**
 * `ended`: reads something that has ended or is gone. `live`: reads something live; null if no result reports
 * that.
 */
type Read = { ended: Ask; live: Ask | null }
/** A new operation does not compile before it is in the table below. */
type Table = {
  [Part in keyof Operations]: {
    [Name in keyof Operations[Part]]: 'writes' | 'reads no rows' | 'health' | Read
  }
}

const [ID, GONE] = [1, 99]
const [NOTHING, TOKEN, SESSION] = [Buffer.alloc(16), Buffer.alloc(32, 2), Buffer.alloc(32, 3)]
const [LINK, USED_KEY, LOOKUP] = [Buffer.alloc(32, 4), Buffer.alloc(32, 5), Buffer.alloc(16, 6)]
const LABELS = { urlToken: Buffer.alloc(30), name: null, note: null }
const always = (ended: Ask): Read => ({ ended, live: null })
const owned = { ownerId: ID, expired: false }
const counted = [{ name: 'tries', tries: 1, window: 60_000 }]

const TABLE: Table = {
  pushes: {
    findPush: { ended: (s) => s.pushes.findPush(NOTHING), live: (s) => s.pushes.findPush(LOOKUP) },
    findSealedPush: {
      ended: (s) => s.pushes.findSealedPush(NOTHING),
      live: (s) => s.pushes.findSealedPush(LOOKUP),
    },
    hasGrants: always(async (s) => s.pushes.hasGrants(await pushOf(s))),
    ...writes('createPush', 'claimView', 'claimPlain', 'refusePassphrase', 'expirePush', 'expirePushes'),
    ...writes('editPush', 'mailLink', 'unlockPush', 'tryCode'),
  },
  idempotencyKeys: {
    findKey: {
      ended: (s) => s.idempotencyKeys.findKey(USED_KEY),
      live: (s) => s.idempotencyKeys.findKey(NOTHING),
    },
    ...writes('removeLapsed'),
  },
  lists: {
    listPushes: always((s) => s.lists.listPushes({ ...owned, pageNumber: 1 })),
    readFacts: always((s) => Array.fromAsync(s.lists.readFacts(owned))),
    readTexts: { ended: (s) => s.lists.readTexts([GONE]), live: (s) => s.lists.readTexts([ID]) },
    listTab: always((s) =>
      s.lists.listTab({ ownerId: ID, list: 'new', pageNumber: 1, pageSize: 25, until: null }),
    ),
    listAnswers: always((s) => s.lists.listAnswers({ id: ID, ownerId: ID })),
    countUnseen: { ended: (s) => s.lists.countUnseen(ID), live: (s) => s.lists.countUnseen(GONE) },
    listByIds: always((s) => s.lists.listByIds({ ownerId: ID, ids: [ID] })),
    countOwned: always((s) => s.lists.countOwned(ID)),
    findLabels: { ended: (s) => s.lists.findLabels(GONE), live: (s) => s.lists.findLabels(ID) },
    ...writes('markSeen'),
  },
  audit: {
    listPage: always((s) => s.audit.listPage({ id: ID }, 1)),
    readAll: always((s) => Array.fromAsync(s.audit.readAll({ id: ID }))),
  },
  expiry: {
    // The time at which the sweeper wakes up. A missing one reports that nothing is live.
    findNextLapse: {
      ended: (s) => after('UPDATE pushes SET expired_on = 1', s.expiry.findNextLapse),
      live: (s) => s.expiry.findNextLapse(),
    },
    ...writes('expireLapsed', 'expireLapsedOf', 'purgeExpired'),
  },
  events: {
    listEvents: {
      ended: (s) => s.events.listEvents({ accountId: ID, after: 0 }),
      live: (s) => s.events.listEvents({ accountId: ID, after: 9 }),
    },
    look: {
      ended: (s) => s.events.look({ accountIds: [ID], tokenIds: [ID, GONE] }),
      live: (s) => s.events.look({ accountIds: [ID], tokenIds: [ID] }),
    },
    ...writes('tellAdmins', 'tellExpiring', 'tellPausing', 'removeOld'),
  },
  requests: {
    findRequest: {
      ended: (s) => s.requests.findRequest(NOTHING),
      live: (s) => s.requests.findRequest(exampleRequest(ID, START).lookup as Buffer),
    },
    listRequests: always((s) => s.requests.listRequests({ accountId: ID, pageNumber: 1 })),
    ...writes('addRequest', 'closeRequest', 'refusePassphrase', 'reserveAnswer', 'freeReservation', 'purge'),
  },
  outbox: {
    findNextDue: {
      ended: (s) => after('DELETE FROM outbox', s.outbox.findNextDue),
      live: (s) => s.outbox.findNextDue(),
    },
    countOf: always((s) => s.outbox.countOf(ID)),
    ...writes('takeDue', 'settleTry', 'hasten'),
  },
  webhooks: {
    listWebhooks: always((s) => s.webhooks.listWebhooks(ID)),
    findWebhook: { ended: (s) => s.webhooks.findWebhook(GONE), live: (s) => s.webhooks.findWebhook(ID) },
    ...writes('addWebhook', 'changeEvents', 'removeWebhook', 'noteTest'),
  },
  accounts: {
    findAccount: always((s) => s.accounts.findAccount('ann@example.org')),
    findById: { ended: (s) => s.accounts.findById(GONE), live: (s) => s.accounts.findById(ID) },
    findCredentials: always((s) => s.accounts.findCredentials('ann@example.org')),
    listAccounts: always((s) => s.accounts.listAccounts()),
    ...writes('addAccount', 'setPasswordHash', 'rehashPassword', 'setDisabled', 'setAdmin'),
    ...writes('removePushesOf', 'removeAccount', 'setService'),
  },
  identities: {
    findCredentials: always((s) => s.identities.findCredentials({ issuer: 'i', subject: 's' })),
    isBound: always((s) => s.identities.isBound(ID)),
    isEnded: always((s) => s.identities.isEnded({ issuer: 'i', subject: 's', sid: null }, 0)),
    ...writes('addAccount', 'bind', 'unbind', 'setAdmin', 'spend', 'endSessions', 'confirmSession'),
  },
  passkeys: {
    find: always((s) => s.passkeys.find(NOTHING)),
    listPasskeys: always((s) => s.passkeys.listPasskeys(ID)),
    ...writes('add', 'remove', 'use'),
  },
  apiTokens: {
    listApiTokens: always((s) => s.apiTokens.listApiTokens(ID)),
    findByHash: { ended: (s) => s.apiTokens.findByHash(NOTHING), live: (s) => s.apiTokens.findByHash(TOKEN) },
    ...writes('addApiToken', 'noteUse', 'removeApiToken'),
  },
  sessions: {
    findByHash: { ended: (s) => s.sessions.findByHash(NOTHING), live: (s) => s.sessions.findByHash(SESSION) },
    listSessions: always((s) => s.sessions.listSessions(ID)),
    ...writes('addSession', 'noteUse', 'confirmSession', 'removeSession', 'removeOtherSessions'),
  },
  accountLinks: {
    findLink: {
      ended: (s) => s.accountLinks.findLink(NOTHING as Buffer),
      live: (s) => s.accountLinks.findLink(LINK),
    },
    hasAdmin: always((s) => s.accountLinks.hasAdmin()),
    listLinks: always((s) => s.accountLinks.listLinks()),
    ...writes('addLink', 'useLink', 'removeLink'),
  },
  twoFactor: {
    countRecoveryCodes: always((s) => s.twoFactor.countRecoveryCodes(ID)),
    ...writes('removeAuthenticator', 'set', 'remove', 'useStep', 'useRecoveryCode'),
  },
  preferences: {
    find: { ended: (s) => s.preferences.find(GONE), live: (s) => s.preferences.find(ID) },
    ...writes('keep'),
  },
  people: {
    listPeople: always((s) => s.people.listPeople({ search: '', pageNumber: 1 })),
    measureUsage: always((s) => s.people.measureUsage(ID)),
    countUnprotectedAdmins: always((s) => s.people.countUnprotectedAdmins()),
  },
  appearance: { find: always((s) => s.appearance.find()), ...writes('keep') },
  shared: {
    budgets: always((s) => s.shared.budgets.take({ counts: counted, refuse: ([state]) => state ?? null })),
    nonces: 'writes',
    removeLapsed: 'writes',
  },
  health: { countPushes: 'health', countMessages: 'health', listFailingWebhooks: 'health' },
  damage: { report: 'reads no rows', count: 'reads no rows' },
}

function writes<const Name extends string>(...names: Name[]): Record<Name, 'writes'> {
  return Object.fromEntries(names.map((name) => [name, 'writes'])) as Record<Name, 'writes'>
}

const pushOf = async (store: Operations) => {
  const [listed] = await store.lists.listByIds({ ownerId: ID, ids: [ID] })
  if (listed === undefined) throw new Error('no push')
  return { ...listed.push, files: 1, expiredOn: START }
}

function after(change: string, ask: () => Promise<unknown>): Promise<unknown> {
  database.run(change)
  return ask()
}

let database: Database
let disk: PromiseWithResolvers<void>
let store: Operations

beforeEach(async () => {
  database = new Database(':memory:')
  migrate(database)
  openLinks(database)
  disk = Promise.withResolvers()
  disk.resolve()
  const transact = async <T>(work: () => T) => work()
  const settled = () => disk.promise
  const onError = (cause: unknown) => {
    throw cause
  }
  const { glance, ...steps } = createSteps({
    ...{ drive: createDrive(database), transact, onEffect: () => undefined, settled },
  })
  const now = () => START
  const keyring = parseKeyFile(newKeyFile())
  const parts: Parts = {
    steps,
    glance,
    now,
    trusted: now,
    keyring,
    node: new Uint8Array(1),
    setupLinks: 1,
    hasRoom: () => true,
    onError,
  }
  store = createOperations(parts)
  await fill()
  disk = Promise.withResolvers()
})
afterEach(() => database.close())

/** An account with one record of each kind, and a push that was viewed once. */
async function fill(): Promise<void> {
  const account = { email: 'ann@example.org', passwordHash: 'x', isAdmin: true }
  expect((await store.accounts.addAccount(account)).id).toBe(ID)
  const link = { purpose: 'invite', accountId: null, email: null, isAdmin: false } as const
  await store.accountLinks.addLink({
    ...{ ...link, endsTwoFactor: false, createdBy: null, hash: LINK, session: null, mail: null },
  })
  await store.apiTokens.addApiToken({ accountId: ID, name: 'a', prefix: 'obx_', hash: TOKEN, session: null })
  await store.sessions.addSession({ accountId: ID, hash: SESSION, visit: VISIT, tested: 'x' })
  await store.preferences.keep({ accountId: ID, template: 'hello' })
  await store.requests.addRequest(exampleRequest(ID, START), 0)
  const sealed = Buffer.alloc(30)
  const events = ['push.opened']
  await store.webhooks.addWebhook({
    ...{ accountId: ID, host: 'example.org', sealed, format: 'standard', events, withName: false },
  })
  const idempotency = { lookup: USED_KEY, lapsesAt: START + 1000, answer: Buffer.alloc(88) }
  const clock = { now: () => START } as Parameters<typeof storePush>[0]['clock']
  const push = examplePush(START, { ownerId: ID })
  await view(
    { store },
    await storePush({ store, clock }, push, { labels: LABELS, lookup: LOOKUP, idempotency }),
  )
}

/** Whether a read resolves while the disk has not returned from a sync. */
async function resolvesEarly(asked: Promise<unknown>): Promise<boolean> {
  let isResolved = false
  void asked.then(() => {
    isResolved = true
  })
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
  return isResolved
}

for (const [part, reads] of Object.entries(TABLE))
  for (const [name, read] of Object.entries<Table[keyof Table][never] | Read | string>(reads))
    if (typeof read === 'object') {
      const { ended, live } = read as Read
      test(`${part}.${name} reports an end once that is durable`, async () => {
        const asked = ended(store)
        expect(await resolvesEarly(asked)).toBe(false)
        disk.resolve()
        await asked
      })
      if (live !== null)
        test(`${part}.${name} does not wait for the disk to report what is live`, async () => {
          expect(await resolvesEarly(live(store))).toBe(true)
        })
    }

test('the counts of the health checks do not wait for the disk', async () => {
  expect(await store.health.countPushes()).toEqual({ live: 1, expired: 0 })
  expect(await resolvesEarly(store.health.countMessages())).toBe(true)
})

test('operations get no function that reads without waiting', () => {
  const steps = {} as Parts['steps']
  // @ts-expect-error: health alone has it.
  expect(steps.glance).toBeUndefined()
})
