// Guarantees of every engine for accounts and their parts: unique ones stay unique, single-use ones work
// once, and all of them end together.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { NO_CHOICES } from '../../../src/domain/push-choices.ts'
import { DAY } from '../../../src/domain/time.ts'
import type { Preferences } from '../../../src/store/accounts-contract.ts'
import { storePush, VISIT } from '../../support/store.ts'
import type { OpenEngine, OpenedEngine } from './engine.ts'

const HASH = Buffer.alloc(32, 7)
const BY_SERVER = {
  email: null,
  isAdmin: false,
  endsTwoFactor: false,
  createdBy: null,
  session: null,
  mail: null,
}

export function describeAccounts(open: OpenEngine): void {
  let opened: OpenedEngine
  let id: number
  const add = (email: string, isAdmin = false) =>
    opened.store.accounts.addAccount({ email, passwordHash: 'x', isAdmin })
  beforeEach(async () => {
    opened = await open()
    id = (await add('ann@example.org', true)).id
  })
  afterEach(() => opened.close())

  const succeeded = (tries: PromiseSettledResult<unknown>[]) =>
    tries.filter(({ status }) => status === 'fulfilled').length

  test('concurrent sign-ups with one address create one account', async () => {
    const tries = await Promise.allSettled([1, 2, 3].map(() => add('bob@example.org')))
    expect(succeeded(tries)).toBe(1)
    expect((await opened.store.accounts.listAccounts()).map(({ email }) => email)).toEqual([
      'ann@example.org',
      'bob@example.org',
    ])
  })

  test('concurrent changes of the appearance leave one row', async () => {
    const { appearance } = opened.store
    expect(await appearance.find()).toBeNull()
    const set = ['Alder', 'Birch'].map((name) => ({ name, contact: 'the desk', notice: null }))
    await Promise.all(set.map(appearance.keep))
    expect(set.map(({ name }) => name)).toContain((await appearance.find())?.name ?? '')
    await appearance.keep({ name: null, contact: null, notice: '😀'.repeat(300) })
    expect(await appearance.find()).toEqual({ name: null, contact: null, notice: '😀'.repeat(300) })
    await expect(appearance.keep({ name: 'x'.repeat(41), contact: null, notice: null })).rejects.toThrow()
  })

  test('if two administrators disable each other at once, one of them stays enabled', async () => {
    const { accounts } = opened.store
    const bob = await add('bob@example.org', true)
    const disable = (of: number) => accounts.setDisabled({ id: of, disabled: true, keepAdmin: true })
    expect(succeeded(await Promise.allSettled([disable(id), disable(bob.id)]))).toBe(1)
    const left = (await accounts.listAccounts()).filter(({ disabledAt }) => disabledAt === null)
    expect(left).toHaveLength(1)
    const last = accounts.setAdmin({ id: left[0]?.id ?? 0, isAdmin: false })
    await expect(last).rejects.toMatchObject({ code: 'conflict' })
  })

  test('a new password ends sessions and links, and API tokens if requested', async () => {
    const { accounts, sessions, accountLinks, apiTokens } = opened.store
    await sessions.addSession({ accountId: id, hash: HASH, visit: VISIT, tested: 'x' })
    await accountLinks.addLink({ hash: HASH, purpose: 'reset', ...BY_SERVER, accountId: id })
    await apiTokens.addApiToken({ accountId: id, name: 'laptop', prefix: 'obx', hash: HASH, session: null })
    await accounts.setPasswordHash({ id, passwordHash: 'y' })
    expect(await sessions.findByHash(HASH)).toBeNull()
    expect(await accountLinks.findLink(HASH)).toBeNull()
    expect((await apiTokens.findByHash(HASH))?.account.id).toBe(id)
    await accounts.setPasswordHash({ id, passwordHash: 'z', revoke: true })
    expect(await apiTokens.findByHash(HASH)).toBeNull()
    const late = sessions.addSession({ accountId: id, hash: HASH, visit: VISIT, tested: 'x' })
    await expect(late).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  const PERSON = { issuer: 'https://id.example', subject: 'sub-ann' }

  test('a person at a provider is linked to one account, even if several bind it at once; nobody binds it after a password change', async () => {
    const { identities, accounts } = opened.store
    const bob = await add('bob@example.org')
    const bind = (accountId: number) => identities.bind({ accountId, tested: 'x', ...PERSON })
    expect(succeeded(await Promise.allSettled([bind(id), bind(bob.id)]))).toBe(1)
    const owner = (await identities.findCredentials(PERSON))?.account.id ?? 0
    await bind(owner)
    await expect(identities.bind({ accountId: owner, tested: 'y', ...PERSON })).rejects.toMatchObject({
      code: 'unauthenticated',
    })
    const eve = identities.addAccount({ email: 'eve@example.org', isAdmin: false, identity: PERSON })
    await expect(eve).rejects.toMatchObject({ code: 'conflict' })
    expect(await accounts.findAccount('eve@example.org')).toBeNull()
    await accounts.setPasswordHash({ id: owner, passwordHash: 'x', revoke: false })
    expect(await identities.isBound(owner)).toBe(true)
    await accounts.setPasswordHash({ id: owner, passwordHash: 'x', revoke: true })
    expect(await identities.isBound(owner)).toBe(false)
  })

  test('an account without a password keeps its link to the person, and the link is removed with it', async () => {
    const { identities, accounts } = opened.store
    const eve = await identities.addAccount({ email: 'eve@example.org', isAdmin: true, identity: PERSON })
    expect(eve).toMatchObject({ hasPassword: false, isService: false })
    expect(await identities.unbind(eve.id)).toBe(false)
    await identities.setAdmin({ id: eve.id, isAdmin: false })
    await accounts.setService({ id: eve.id, isService: true })
    expect(await accounts.findById(eve.id)).toMatchObject({ isAdmin: false, isService: true })
    await accounts.removeAccount(eve.id)
    expect(await identities.findCredentials(PERSON)).toBeNull()
  })

  test('a provider ends its own sessions, and each logout token works once', async () => {
    const { sessions, identities } = opened.store
    const begin = async (n: number, origin: { sid: string | null; subject: string } | null) => {
      const hash = Buffer.alloc(32, n)
      const by = { via: 'oidc' as const, issuer: PERSON.issuer, isMultiFactor: true, endsAt: 9e14 }
      const from = origin === null ? null : { ...by, ...origin }
      await sessions.addSession({ accountId: id, hash, visit: VISIT, tested: 'x', origin: from })
      return async () => (await sessions.findByHash(hash)) !== null
    }
    const open = [
      await begin(1, { sid: 'one', subject: 'sub-ann' }),
      await begin(2, { sid: 'two', subject: 'sub-ann' }),
      await begin(3, { sid: null, subject: 'sub-ann' }),
      await begin(4, { sid: 'one', subject: 'sub-eve' }),
      await begin(5, null),
    ]
    const looks = () => Promise.all(open.map((look) => look()))
    const end = (text: string, sid: string | null, subject: string | null) =>
      identities.endSessions({ issuer: PERSON.issuer, sid, subject, nonce: { text, lapsesAt: 9e14 } })
    expect(await end('a', 'one', 'sub-ann')).toEqual({ email: 'ann@example.org' })
    expect(await looks()).toEqual([false, true, false, true, true])
    await expect(end('a', null, 'sub-ann')).rejects.toMatchObject({ code: 'conflict' })
    expect(await end('b', null, 'sub-ann')).toEqual({ email: 'ann@example.org' })
    expect(await end('c', null, 'sub-ann')).toBeNull()
    expect(await looks()).toEqual([false, false, false, true, true])
  })

  test('sign-ins that began before a logout at the provider notice it', async () => {
    const { identities } = opened.store
    const { issuer } = PERSON
    const end = (text: string, sid: string | null, subject: string | null) =>
      identities.endSessions({ issuer, sid, subject, nonce: { text, lapsesAt: 9e14 } })
    const isEnded = (sid: string | null, subject: string, since = 0) =>
      identities.isEnded({ issuer, sid, subject }, since)
    expect(await isEnded('one', 'sub-ann')).toBe(false)
    await end('a', 'one', 'sub-ann')
    expect([await isEnded('one', 'sub-ann'), await isEnded('two', 'sub-ann')]).toEqual([true, false])
    await end('b', null, 'sub-ann')
    await end('c', null, 'sub-ann')
    expect([await isEnded('two', 'sub-ann'), await isEnded(null, 'sub-eve')]).toEqual([true, false])
    expect(await isEnded('one', 'sub-ann', 9e14)).toBe(false)
  })

  test('an ended session sets no password, even if the old password was right when the request began', async () => {
    const { accounts, sessions } = opened.store
    const hashes = [HASH, Buffer.alloc(32, 8)]
    for (const hash of hashes) await sessions.addSession({ accountId: id, hash, visit: VISIT, tested: 'x' })
    const [own, thief] = await Promise.all(
      hashes.map(async (hash) => (await sessions.findByHash(hash))?.session.id),
    )
    const change = (passwordHash: string, session: number | undefined) =>
      accounts.setPasswordHash({ id, passwordHash, keepSession: session ?? null, revoke: true })
    const tries = await Promise.allSettled([change('own', own), change('thief', thief)])
    expect(succeeded(tries)).toBe(1)
    const [kept, ended] = tries[0].status === 'fulfilled' ? [own, thief] : [thief, own]
    await expect(change('late', ended)).rejects.toMatchObject({ code: 'unauthenticated' })
    expect((await sessions.listSessions(id)).map((session) => session.id)).toEqual([kept ?? 0])
    expect((await accounts.findCredentials('ann@example.org'))?.passwordHash).toBe(
      kept === own ? 'own' : 'thief',
    )
  })

  test('a demoted administrator creates no link with a running request', async () => {
    const { accounts, accountLinks } = opened.store
    const bob = await add('bob@example.org', true)
    const invite = {
      ...BY_SERVER,
      hash: HASH,
      purpose: 'invite' as const,
      accountId: null,
      createdBy: bob.id,
    }
    await accounts.setAdmin({ id: bob.id, isAdmin: false })
    await expect(accountLinks.addLink(invite)).rejects.toMatchObject({ code: 'unauthenticated' })
    await accounts.setAdmin({ id: bob.id, isAdmin: true })
    await accountLinks.addLink(invite)
    expect(await accountLinks.findLink(HASH)).not.toBeNull()
  })

  test('a disabled account loses its links, and the waiting messages of its webhooks', async () => {
    const { accounts, accountLinks, webhooks } = opened.store
    const waiting = async () => (await webhooks.listWebhooks(id)).map((listed) => listed.waiting)
    const webhook = {
      host: 'hook.example',
      sealed: HASH,
      format: 'standard',
      events: ['backup.failed'],
      withName: false,
    }
    await webhooks.addWebhook({ ...webhook, accountId: id } as Parameters<typeof webhooks.addWebhook>[0])
    await accountLinks.addLink({ hash: HASH, purpose: 'reset', ...BY_SERVER, accountId: id })
    await opened.store.events.tellAdmins({ type: 'backup.failed', data: {} })
    expect(await waiting()).toEqual([1])
    await accounts.setDisabled({ id, disabled: true })
    await accounts.setDisabled({ id, disabled: false })
    expect(await waiting()).toEqual([0])
    expect(await accountLinks.findLink(HASH)).toBeNull()
  })

  test('a disabled account has no sessions and no tokens, after a restart as well', async () => {
    await opened.store.sessions.addSession({ accountId: id, hash: HASH, visit: VISIT, tested: 'x' })
    const token = { accountId: id, name: 'laptop', prefix: 'obx', hash: HASH, session: null, mail: null }
    await opened.store.apiTokens.addApiToken(token)
    await opened.store.accounts.setDisabled({ id, disabled: true })
    await opened.reopen()
    expect(await opened.store.sessions.findByHash(HASH)).toBeNull()
    expect(await opened.store.apiTokens.findByHash(HASH)).toBeNull()
    await opened.store.accounts.setDisabled({ id, disabled: false })
    expect(await opened.store.sessions.listSessions(id)).toEqual([])
    expect((await opened.store.apiTokens.findByHash(HASH))?.account.email).toBe('ann@example.org')
  })

  test('a link works once, even if it is used several times at once, and only until it expires', async () => {
    const { accountLinks } = opened.store
    await accountLinks.addLink({ hash: HASH, purpose: 'invite', ...BY_SERVER, accountId: null })
    const use = (n: number) =>
      accountLinks.useLink({ hash: HASH, email: `${n}@example.org`, passwordHash: 'x' })
    expect(succeeded(await Promise.allSettled([1, 2, 3].map(use)))).toBe(1)
    expect(await opened.store.accounts.listAccounts()).toHaveLength(2)
    await accountLinks.addLink({ hash: HASH, purpose: 'reset', ...BY_SERVER, accountId: id })
    opened.clock.advance(DAY)
    expect(await accountLinks.findLink(HASH)).toBeNull()
  })

  test('a push whose create began before a reset link was used is refused, and one that begins later is stored', async () => {
    const { accountLinks, accounts } = opened.store
    await accountLinks.addLink({ hash: HASH, purpose: 'reset', ...BY_SERVER, accountId: id })
    const before = await accounts.findById(id)
    const after = await accountLinks.useLink({ hash: HASH, email: '', passwordHash: 'y' })
    expect([before?.resets, after.resets, (await accounts.findById(id))?.resets]).toEqual([0, 1, 1])
    const create = (ownerResets: number) => storePush(opened, { ownerId: id }, { ownerResets })
    await expect(create(0)).rejects.toMatchObject({ code: 'unauthenticated' })
    expect((await create(1)).ownerId).toBe(id)
    await accounts.setPasswordHash({ id, passwordHash: 'z', revoke: true })
    expect((await create(1)).ownerId).toBe(id)
    await opened.reopen()
    expect((await opened.store.accounts.findById(id))?.resets).toBe(1)
  })

  test('names of API tokens are unique within an account, and the last use is recorded', async () => {
    const { apiTokens } = opened.store
    const token = { accountId: id, name: 'laptop', prefix: 'obx', hash: HASH, session: null, mail: null }
    await apiTokens.addApiToken(token)
    const again = apiTokens.addApiToken({ ...token, hash: Buffer.alloc(32, 8) })
    await expect(again).rejects.toMatchObject({ code: 'conflict' })
    const found = await apiTokens.findByHash(HASH)
    if (found !== null) await apiTokens.noteUse(found)
    const [listed] = await apiTokens.listApiTokens(id)
    expect(listed?.lastUsedAt).toBe(opened.clock.now())
    await apiTokens.removeApiToken(listed?.id ?? 0)
    expect(await apiTokens.listApiTokens(id)).toEqual([])
  })

  test('a second factor is set once, and each of its codes is used once', async () => {
    const { twoFactor } = opened.store
    const code = Buffer.alloc(32, 5)
    const factor = { accountId: id, sealedSecret: Buffer.alloc(50, 1), step: 10, recoveryHashes: [code] }
    const set = await Promise.all([twoFactor.set(factor), twoFactor.set(factor)])
    expect(set.sort()).toEqual([false, true])
    const steps = await Promise.all([10, 11, 11].map((step) => twoFactor.useStep({ accountId: id, step })))
    expect(steps.filter(Boolean)).toHaveLength(1)
    const uses = await Promise.all([1, 2].map(() => twoFactor.useRecoveryCode({ accountId: id, hash: code })))
    expect(uses.sort()).toEqual([false, true])
    expect(await twoFactor.countRecoveryCodes(id)).toBe(0)
    await twoFactor.remove(id)
    expect(await twoFactor.set(factor)).toBe(true)
  })

  /** Adds a passkey of Ann's account in a new session. */
  async function addPasskey(n: number, accountId = id) {
    const { sessions, passkeys } = opened.store
    const hash = randomBytes(32)
    await sessions.addSession({ accountId, hash, visit: VISIT, tested: 'x' })
    const session = (await sessions.findByHash(hash))?.session.id ?? 0
    return passkeys.add({
      ...{ accountId, session, credentialId: Buffer.alloc(20, n), publicKey: Buffer.alloc(77, n) },
      ...{ counter: 0, rpId: 'once.example', name: `Key ${n}`, recoveryHashes: [Buffer.alloc(32, 100 + n)] },
    })
  }

  test('of many passkeys added at once ten are kept, each once, and only one of them brings recovery codes', async () => {
    const { accounts, twoFactor, passkeys } = opened.store
    const added = await Promise.all(Array.from({ length: 12 }, (_, n) => addPasskey(n + 1)))
    expect(added.toSorted()).toEqual([...Array(9).fill('added'), 'first', 'too_many', 'too_many'])
    expect(await accounts.findById(id)).toMatchObject({
      passkeys: 10,
      hasTwoFactor: true,
      hasAuthenticator: false,
    })
    expect(await twoFactor.countRecoveryCodes(id)).toBe(1)
    const bob = await add('bob@example.org')
    const [first] = await passkeys.listPasskeys(id)
    expect(first?.credentialId).toEqual(new Uint8Array(Buffer.alloc(20, Number(first?.name.slice(4)))))
    expect(await addPasskey(Number(first?.name.slice(4)), bob.id)).toBe('known')
    expect(await passkeys.remove({ accountId: bob.id, id: first?.id ?? 0 })).toBe(false)
    // The id of a removed passkey may belong to another account by now.
    const use = { id: first?.id ?? 0, accountId: bob.id, counter: 9, beside: null }
    expect(await passkeys.use(use)).toBe('gone')
    const removed = await Promise.all(
      [1, 2].map(() => passkeys.remove({ accountId: id, id: first?.id ?? 0 })),
    )
    expect(removed.toSorted()).toEqual([false, true])
    expect((await accounts.findById(id))?.passkeys).toBe(9)
  })

  test('of two uses with one counter the second disables the passkey for good', async () => {
    const { passkeys } = opened.store
    await addPasskey(1)
    const [key] = await passkeys.listPasskeys(id)
    const use = (counter: number) => passkeys.use({ id: key?.id ?? 0, accountId: id, counter, beside: null })
    expect((await Promise.all([use(7), use(7)])).toSorted()).toEqual(['copied', 'used'])
    expect(await use(8)).toBe('copied')
    const found = await passkeys.find(Buffer.alloc(20, 1))
    expect(found).toMatchObject({ copiedAt: opened.clock.now(), owner: { account: { id } } })
    expect(await passkeys.use({ id: 99, accountId: id, counter: 9, beside: null })).toBe('gone')
  })

  test('after a revoking password change passkeys are second factors, until each was used with the new password', async () => {
    const { accounts, passkeys, twoFactor } = opened.store
    await addPasskey(1)
    const look = async () => (await passkeys.find(Buffer.alloc(20, 1)))?.signsIn
    const key = (await passkeys.listPasskeys(id))[0]?.id ?? 0
    await accounts.setPasswordHash({ id, passwordHash: 'y' })
    expect(await look()).toBe(true)
    await accounts.setPasswordHash({ id, passwordHash: 'z', revoke: true })
    expect(await look()).toBe(false)
    for (const beside of [null, 'y']) await passkeys.use({ id: key, accountId: id, counter: 0, beside })
    expect(await look()).toBe(false)
    await passkeys.use({ id: key, accountId: id, counter: 0, beside: 'z' })
    expect(await look()).toBe(true)
    await twoFactor.remove(id)
    expect(await look()).toBeUndefined()
    expect(await accounts.findById(id)).toMatchObject({ passkeys: 0, hasTwoFactor: false })
  })

  test('turning the app off keeps the recovery codes for the passkeys, and removing the last passkey removes them', async () => {
    const { passkeys, twoFactor } = opened.store
    const count = () => twoFactor.countRecoveryCodes(id)
    const factor = { accountId: id, sealedSecret: Buffer.alloc(50, 1), step: 10 }
    await twoFactor.set({ ...factor, recoveryHashes: [5, 6].map((n) => Buffer.alloc(32, n)) })
    expect(await addPasskey(1)).toBe('added')
    await twoFactor.removeAuthenticator(id)
    expect(await count()).toBe(2)
    await passkeys.remove({ accountId: id, id: (await passkeys.listPasskeys(id))[0]?.id ?? 0 })
    expect(await count()).toBe(0)
    await twoFactor.set({ ...factor, step: 11, recoveryHashes: [Buffer.alloc(32, 7)] })
    await twoFactor.removeAuthenticator(id)
    expect(await count()).toBe(0)
  })

  test('no passkey is added in a session that has ended, and none is left after its account was removed', async () => {
    const { accounts, passkeys } = opened.store
    await addPasskey(1)
    const late = passkeys.add({
      ...{ accountId: id, session: 99, credentialId: Buffer.alloc(20, 2), publicKey: Buffer.alloc(77) },
      ...{ counter: 0, rpId: 'once.example', name: 'Late', recoveryHashes: [] },
    })
    await expect(late).rejects.toMatchObject({ code: 'unauthenticated' })
    await accounts.removeAccount(id)
    expect(await passkeys.find(Buffer.alloc(20, 1))).toBeNull()
  })

  test('the latest choices of an account are kept across a restart, and deleted with the account', async () => {
    const keep = (changed: Partial<Preferences>) =>
      opened.store.preferences.keep({ accountId: id, ...changed })
    const find = () => opened.store.preferences.find(id)
    const first = { lifetime: 60_000, views: 3, retrievalStep: false, deletableByViewer: null }
    const second = { lifetime: null, views: 1, retrievalStep: null, deletableByViewer: true }
    expect(await find()).toBeNull()
    await keep({ template: 'first {link}' })
    expect(await find()).toMatchObject({ template: 'first {link}', ...NO_CHOICES })
    await keep(first)
    await keep({ template: 'second {link}\nends {expires}' })
    await opened.reopen()
    expect(await find()).toMatchObject({ template: 'second {link}\nends {expires}', ...first })
    await keep(second)
    await keep({ template: null })
    expect(await find()).toMatchObject({ template: null, ...second })
    await opened.store.accounts.removeAccount(id)
    expect(await find()).toBeNull()
    await keep(first)
    expect(await find()).toBeNull()
  })
}
