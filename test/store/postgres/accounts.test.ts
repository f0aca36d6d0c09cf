// Accounts in PostgreSQL, raced by two nodes with connections of their own.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { MAX_API_TOKENS, MAX_SESSIONS } from '../../../src/domain/account.ts'
import { DAY } from '../../../src/domain/time.ts'
import type { NewAccountLink } from '../../../src/store/accounts-contract.ts'
import { openPostgresNodes, type PostgresNode, type PostgresNodes } from '../../support/postgres-nodes.ts'
import { storePush, VISIT, view } from '../../support/store.ts'
import { usePostgres } from '../../support/use-postgres.ts'
import { untilDone, waitUntil } from '../../support/waiting.ts'

const ROUNDS = 12

const hashOf = (n: number) => Buffer.alloc(32, n)
const BY_SERVER = {
  email: null,
  isAdmin: false,
  endsTwoFactor: false,
  createdBy: null,
  session: null,
  mail: null,
}

const postgres = usePostgres()

postgres.describe('two nodes', () => {
  let opened: PostgresNodes
  let nodes: [PostgresNode, PostgresNode]
  let id: number
  beforeEach(async () => {
    opened = await openPostgresNodes(postgres)
    const [one, other] = opened.nodes
    nodes = [one, other]
    id = (await add('ann@example.org', true)).id
  })
  afterEach(() => opened.close())

  const add = (email: string, isAdmin = false) =>
    nodes[0].accounts.addAccount({ email, passwordHash: 'x', isAdmin })
  const onBoth = <T>(work: (node: PostgresNode, n: number) => Promise<T>) =>
    Promise.allSettled(
      nodes.flatMap((node, n) => [2 * n, 2 * n + 1].map((id) => untilDone(() => work(node, id)))),
    )
  const outcomes = (tries: PromiseSettledResult<unknown>[]) =>
    tries.map((one) => (one.status === 'fulfilled' ? String(one.value ?? 'done') : codeOf(one.reason))).sort()
  const codeOf = (cause: unknown) =>
    typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : String(cause)
  const addSession = (node: PostgresNode, hash: Buffer, tested = 'x') =>
    untilDone(() => node.sessions.addSession({ accountId: id, hash, visit: VISIT, tested }))

  test('create one account for an address, and the other node gets a conflict', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const account = { email: `${round}@example.org`, passwordHash: 'x', isAdmin: false }
      const tries = await onBoth(async (node) => (await node.accounts.addAccount(account)).email)
      expect(outcomes(tries)).toEqual([account.email, 'conflict', 'conflict', 'conflict'])
    }
  })

  /** Lists the rows of the account in every table that names accounts. */
  async function belongings(): Promise<string[]> {
    const tables = await opened.query<{ name: string }>(
      "SELECT table_name AS name FROM information_schema.columns WHERE column_name = 'account_id' ORDER BY 1",
    )
    const left = []
    for (const { name } of tables)
      if ((await opened.query(`SELECT 1 FROM ${name} WHERE account_id = $1`, [id])).length > 0)
        left.push(name)
    return left
  }

  /** Resolves once this many statements wait for a lock. */
  const untilWaiting = (count: number) =>
    waitUntil(async () => {
      const [waiting] = await opened.query<{ n: number }>(
        'SELECT count(*)::int AS n FROM pg_locks WHERE NOT granted',
      )
      return waiting?.n === count
    })

  const labels = { urlToken: Buffer.from('token'), name: null, note: null }
  const makeOwned = (expireAfterViews: number) =>
    storePush({ store: nodes[0], clock: opened.clock }, { ownerId: id, expireAfterViews }, { labels })

  for (const [which, views] of [
    ['view', 5],
    ['last view', 1],
  ] as const)
    test(`a ${which} during the removal of its account leaves no event of the removed account`, async () => {
      const push = await makeOwned(views)
      await opened.query('BEGIN')
      // Lets the view wait before it records its event. The removal does not see this uncommitted row.
      await opened.query(`INSERT INTO event_counts (account_id, last) VALUES (${id}, 1)`)
      const viewed = view({ store: nodes[0] }, push)
      await untilWaiting(1)
      const removed = nodes[1].accounts.removeAccount(id)
      await Promise.race([removed, untilWaiting(2)])
      await opened.query('ROLLBACK')
      expect((await viewed)?.outcome).toBe('view')
      await removed
      expect(await belongings()).toEqual([])
    })

  test('a deletion of pushes during the removal of their account leaves no count of the removed account', async () => {
    const [push, other] = [await makeOwned(5), await makeOwned(5)]
    await opened.query('BEGIN')
    await opened.query(`INSERT INTO event_counts (account_id, last) VALUES (${id}, 1)`)
    const ids = [push.id, other.id]
    const deleted = nodes[0].pushes.expirePushes({ ids, ownerId: id, visit: VISIT })
    await untilWaiting(1)
    const removed = nodes[1].accounts.removeAccount(id)
    await Promise.race([removed, untilWaiting(2)])
    await opened.query('ROLLBACK')
    expect(await deleted).toBe(2)
    await removed
    expect(await belongings()).toEqual([])
  })

  test('the removal of an account waits for a last view that is ending its push, without a deadlock', async () => {
    const push = await makeOwned(1)
    await opened.query('BEGIN')
    await opened.query(`SELECT id FROM pushes WHERE id = ${push.id} FOR UPDATE`)
    const viewed = view({ store: nodes[0] }, push)
    await untilWaiting(1)
    const removed = nodes[1].accounts.removeAccount(id)
    await untilWaiting(2)
    // Wait for the view here, and not at the row of the push, where the view could wait for the account in
    // turn.
    const waits = await opened.query<{ locktype: string }>('SELECT locktype FROM pg_locks WHERE NOT granted')
    expect(waits.map(({ locktype }) => locktype)).toEqual(['transactionid', 'transactionid'])
    await opened.query('COMMIT')
    expect((await viewed)?.outcome).toBe('view')
    await removed
    expect(await belongings()).toEqual([])
  })

  test('if two administrators disable each other on two nodes, one of them stays enabled', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const other = (await add(`${round}@example.org`, true)).id
      const change = (n: number) => ({ id: n % 2 === 0 ? id : other })
      const tries = await onBoth(({ accounts }, n) =>
        round % 2 === 0
          ? accounts.setAdmin({ ...change(n), isAdmin: false })
          : accounts.setDisabled({ ...change(n), disabled: true, keepAdmin: true }),
      )
      expect(outcomes(tries)).toContain('conflict')
      const left = (await nodes[1].accounts.listAccounts()).filter(
        ({ isAdmin, disabledAt }) => isAdmin && disabledAt === null,
      )
      expect(left).toHaveLength(1)
      id = left[0]?.id ?? 0
    }
  })

  test('a one-time link works on one node only', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const hash = hashOf(round)
      const purpose = round % 2 === 0 ? 'invite' : 'reset'
      const accountId = purpose === 'reset' ? id : null
      await nodes[0].accountLinks.addLink({ hash, purpose, ...BY_SERVER, accountId })
      const use = (n: number) => ({ hash, email: `${round}-${n}@example.org`, passwordHash: `${n}` })
      const tries = await onBoth(async (node, n) => {
        await node.accountLinks.useLink(use(n))
      })
      expect(outcomes(tries)).toEqual(['done', 'not_found', 'not_found', 'not_found'])
    }
  })

  test('only one account becomes the first administrator, although each node made a setup link', async () => {
    await opened.query('DELETE FROM accounts')
    const setup = (n: number): NewAccountLink => ({
      ...{ hash: hashOf(n), purpose: 'setup', ...BY_SERVER, accountId: null, isAdmin: true },
    })
    await Promise.all(nodes.map((node, n) => node.accountLinks.addLink(setup(n))))
    const tries = await onBoth(({ accountLinks }, n) =>
      accountLinks.useLink({ hash: hashOf(n % 2), email: `${n}@example.org`, passwordHash: 'x' }),
    )
    expect(outcomes(tries).filter((outcome) => outcome === 'not_found')).toHaveLength(3)
    expect(await nodes[0].accounts.listAccounts()).toHaveLength(1)
    expect(await nodes[1].accountLinks.findLink(hashOf(1))).toBeNull()
  })

  test('each of the latest setup links works, and their number is limited', async () => {
    await opened.query('DELETE FROM accounts')
    for (let n = 0; n < 30; n += 1) {
      const link = {
        hash: hashOf(n),
        purpose: 'setup',
        ...BY_SERVER,
        accountId: null,
        isAdmin: true,
      } as const
      await nodes[0].accountLinks.addLink(link)
    }
    const found = await Promise.all(
      Array.from({ length: 30 }, (_, n) => nodes[1].accountLinks.findLink(hashOf(n))),
    )
    expect(found.filter((link) => link !== null)).toHaveLength(10)
    expect(found.slice(20).every((link) => link?.purpose === 'setup')).toBe(true)
  })

  test('of concurrent links for the same address, one is left', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const invite = (n: number): NewAccountLink => ({
        ...{ hash: hashOf(n), purpose: 'invite', ...BY_SERVER, accountId: null, email: 'bob@example.org' },
      })
      await onBoth(({ accountLinks }, n) => accountLinks.addLink(invite(4 * round + n)))
      expect(await nodes[0].accountLinks.listLinks()).toHaveLength(1)
    }
  })

  test('a code of the second factor, and a recovery code, work on one node only', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const hash = hashOf(round)
      const factor = { accountId: id, sealedSecret: Buffer.alloc(50), step: 10, recoveryHashes: [hash] }
      const once = ['false', 'false', 'false', 'true']
      expect(outcomes(await onBoth(({ twoFactor }) => twoFactor.set(factor)))).toEqual(once)
      const steps = await onBoth(({ twoFactor }) => twoFactor.useStep({ accountId: id, step: 11 }))
      expect(outcomes(steps)).toEqual(once)
      const codes = await onBoth(({ twoFactor }) => twoFactor.useRecoveryCode({ accountId: id, hash }))
      expect(outcomes(codes)).toEqual(once)
      await nodes[1].twoFactor.remove(id)
    }
  })

  test('no session outlives the password with which it began', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const tested = round === 0 ? 'x' : `${round - 1}`
      await Promise.allSettled([
        addSession(nodes[0], hashOf(round), tested),
        nodes[1].accounts.setPasswordHash({ id, passwordHash: `${round}` }),
        addSession(nodes[0], hashOf(100 + round), tested),
      ])
      expect(await nodes[0].sessions.listSessions(id)).toEqual([])
    }
  })

  test('an ended session creates nothing, even with a running request', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await addSession(nodes[0], hashOf(round), round === 0 ? 'x' : `${round - 1}`)
      const [session = null] = (await nodes[0].sessions.listSessions(id)).map((one) => one.id)
      const token = { accountId: id, name: `${round}`, prefix: '', hash: hashOf(round), session }
      const link = { purpose: 'invite', ...BY_SERVER, accountId: null, createdBy: id, session } as const
      await Promise.allSettled([
        nodes[0].apiTokens.addApiToken(token),
        nodes[0].accountLinks.addLink({ ...link, hash: hashOf(round) }),
        nodes[1].accounts.setPasswordHash({ id, passwordHash: `${round}`, revoke: true }),
      ])
      expect(await nodes[0].apiTokens.listApiTokens(id)).toEqual([])
      expect(await nodes[0].accountLinks.listLinks()).toEqual([])
    }
  })

  test('an account has no more sessions and tokens than the limits, even if nodes race', async () => {
    const newToken = (n: number) => ({ name: `${n}`, prefix: '', hash: hashOf(n), session: null, mail: null })
    const tokens = Array.from({ length: MAX_API_TOKENS + 12 }, (_, n) => n)
    const tries = await Promise.allSettled(
      tokens.map((n) => {
        const node = n % 2 === 0 ? nodes[0] : nodes[1]
        return untilDone(() => node.apiTokens.addApiToken({ accountId: id, ...newToken(n) })).then(
          () => undefined,
        )
      }),
    )
    expect(outcomes(tries).filter((outcome) => outcome === 'invalid')).toHaveLength(12)
    expect(await nodes[0].apiTokens.listApiTokens(id)).toHaveLength(MAX_API_TOKENS)
    const sessions = Array.from({ length: MAX_SESSIONS + 10 }, (_, n) => n)
    await Promise.all(sessions.map((n) => addSession(n % 2 === 0 ? nodes[0] : nodes[1], hashOf(n))))
    expect(await opened.query('SELECT 1 FROM sessions')).toHaveLength(MAX_SESSIONS)
  })

  test('ended sessions of all accounts are removed, even if two nodes sign people in', async () => {
    for (let n = 0; n < 5; n += 1) await addSession(nodes[0], hashOf(n))
    opened.clock.advance(40 * DAY)
    await onBoth((node, n) => addSession(node, hashOf(10 + n)))
    expect(await opened.query('SELECT 1 FROM sessions')).toHaveLength(4)
  })

  test('a removed account leaves nothing behind, and its pushes are removed in steps', async () => {
    await addSession(nodes[0], hashOf(1))
    const token = { name: 'laptop', prefix: '', hash: hashOf(1), session: null, mail: null }
    await nodes[0].apiTokens.addApiToken({ accountId: id, ...token })
    await nodes[0].accountLinks.addLink({ hash: hashOf(1), purpose: 'reset', ...BY_SERVER, accountId: id })
    await insertPushes(id, { count: 250, entries: 3 })
    await insertPushes(id, { count: 1, entries: 12_000 })
    await insertPushes(id + 1, { count: 1, entries: 1 })
    const steps: number[] = []
    for (let removed = -1; removed !== 0; ) {
      removed = await nodes[1].accounts.removePushesOf(id)
      steps.push(removed)
    }
    expect(steps.length).toBeGreaterThan(3)
    expect(steps.reduce((sum, step) => sum + step)).toBe(251)
    await nodes[1].accounts.removeAccount(id)
    for (const table of ['accounts', 'sessions', 'api_tokens', 'account_links'])
      expect(await opened.query(`SELECT 1 FROM ${table}`)).toEqual([])
    for (const table of ['pushes', 'push_state', 'push_secrets', 'audit_entries'])
      expect(await opened.query(`SELECT 1 FROM ${table}`)).toHaveLength(1)
    expect(await opened.query('SELECT file_id FROM push_files')).toHaveLength(1)
    expect(await opened.query('SELECT 1 FROM files_due WHERE at IS NOT NULL')).toHaveLength(251)
  })

  test('a push is created while its owner signs in, and a removed account leaves no push that was created meanwhile', async () => {
    const clock = opened.clock
    const push = (node: PostgresNode) => untilDone(() => storePush({ store: node, clock }, { ownerId: id }))
    for (let round = 0; round < ROUNDS; round += 1) {
      const all = [
        addSession(nodes[0], hashOf(round)),
        push(nodes[1]),
        addSession(nodes[1], hashOf(50 + round)),
      ]
      await Promise.all(all)
    }
    const removed = nodes[0].accounts.removeAccount(id)
    const late = Array.from({ length: 10 }, (_, n) => push(n % 2 === 0 ? nodes[0] : nodes[1]))
    const told = await Promise.allSettled(late)
    await removed
    const refused = told.flatMap((one) => (one.status === 'rejected' ? [codeOf(one.reason)] : []))
    expect(new Set([...refused, 'unauthenticated']).size).toBe(1)
    expect(await opened.query('SELECT 1 FROM pushes WHERE owner_id IS NOT NULL')).toEqual([])
    expect(await opened.query('SELECT 1 FROM pushes')).toHaveLength(ROUNDS + 10 - refused.length)
  })

  test('a reset makes the pushes of the account anonymous and deletes their labels', async () => {
    await insertPushes(id, { count: 3, entries: 1 })
    await nodes[0].accountLinks.addLink({ hash: hashOf(1), purpose: 'reset', ...BY_SERVER, accountId: id })
    await nodes[1].accountLinks.useLink({ hash: hashOf(1), email: '', passwordHash: 'y' })
    expect(await opened.query('SELECT owner_id FROM pushes')).toEqual(
      Array.from({ length: 3 }, () => ({ owner_id: null })),
    )
    expect(await opened.query('SELECT 1 FROM push_labels')).toEqual([])
  })

  test('no push from before a reset stays with the account, even if its create races with the reset', async () => {
    for (let round = 0; round < 5; round += 1) {
      await nodes[0].accountLinks.addLink({ hash: hashOf(9), purpose: 'reset', ...BY_SERVER, accountId: id })
      const create = (n: number) =>
        storePush(
          { store: nodes[n % 2] ?? nodes[0], clock: opened.clock },
          { ownerId: id },
          { ownerResets: round },
        )
      const told = await Promise.allSettled([
        ...Array.from({ length: 20 }, (_, n) => create(n)),
        nodes[1].accountLinks.useLink({ hash: hashOf(9), email: '', passwordHash: 'y' }),
        ...Array.from({ length: 20 }, (_, n) => create(n)),
      ])
      const refused = told.flatMap((one) => (one.status === 'rejected' ? [codeOf(one.reason)] : []))
      expect(new Set([...refused, 'unauthenticated']).size).toBe(1)
      expect(await opened.query('SELECT 1 FROM pushes WHERE owner_id IS NOT NULL')).toEqual([])
    }
  })

  test('addresses are sorted by their bytes, and a character that no address has finds none', async () => {
    for (const email of ['Ä@example.org', 'a-b@example.org', 'ab@example.org', 'z@example.org'])
      await add(email.toLowerCase())
    const { people } = await nodes[1].people.listPeople({ search: '', pageNumber: 1 })
    const emails = people.map(({ email }) => email)
    expect(emails).toEqual([...emails].sort())
    expect(await nodes[0].people.listPeople({ search: 'a\0', pageNumber: 1 })).toEqual({
      people: [],
      total: 0,
    })
    expect(await nodes[0].accounts.findAccount('a\0@example.org')).toBeNull()
  })

  /** Inserts live pushes with all that belongs to them, in one statement per table. */
  async function insertPushes(
    ownerId: number,
    { count, entries }: { count: number; entries: number },
  ): Promise<void> {
    const made = await opened.query<{ id: string }>(
      `INSERT INTO pushes (lookup, key_number, kind, owner_id, created_at, expires_at, expire_after_days,
         expire_after_views, retrieval_step, shows_sender, passphrase_required, deleted, lost, files)
       SELECT uuid_send(gen_random_uuid()), 1, 'file', $1, 0, $2, 1, 1, false, false, false, false, false, 1
       FROM generate_series(1, $3) RETURNING id`,
      [ownerId, opened.clock.now() + DAY, count],
    )
    const ids = made.map((push) => push.id)
    const each = 'FROM unnest($1::bigint[]) AS id'
    const insert = (into: string, more = '') => opened.query(`INSERT INTO ${into} ${each} ${more}`, [ids])
    await insert(
      `push_state SELECT id, 0, 0, 0, 0, 0, 0, false, 100000 * id + ${entries}, ${entries}, 0, 0, 0, 0, 0, ''`,
    )
    await insert("push_keys SELECT id, false, decode(repeat('01', 62), 'hex')")
    await insert("push_secrets (push_id, key_slot, salt, payload) SELECT id, id, 's', 'p'")
    await insert("push_labels (push_id, url_token, seen_views, event_id) SELECT id, 't', 0, repeat('x', 20)")
    await insert(
      "push_files (push_id, n, file_id, size, filename, content_type) SELECT id, 0, id, 9, 'f', 'c'",
    )
    await insert(
      `audit_entries SELECT 100000 * id + n, id, CASE WHEN n > 1 THEN 100000 * id + n - 1 END, 'view', 0, '', '', ''`,
      `CROSS JOIN generate_series(1, ${entries}) AS n`,
    )
  }
})
