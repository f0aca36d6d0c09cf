// Guarantees of every engine for administrators: pages and searches of accounts, and the space that each
// uses.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { MINUTE } from '../../../src/domain/time.ts'
import { storePush, VISIT } from '../../support/store.ts'
import type { OpenEngine, OpenedEngine } from './engine.ts'

const LABELS = { urlToken: Buffer.from('token'), name: null, note: null, request: null }

export function describePeople(open: OpenEngine): void {
  let opened: OpenedEngine
  beforeEach(async () => {
    opened = await open()
  })
  afterEach(() => opened.close())

  const add = (email: string) =>
    opened.store.accounts.addAccount({ email, passwordHash: 'x', isAdmin: false })
  const list = async (search = '', pageNumber = 1) => {
    const { people, total } = await opened.store.people.listPeople({ search, pageNumber })
    return { emails: people.map(({ email }) => email), total }
  }

  test('accounts are listed by address, 25 a page, with their total number', async () => {
    const emails = Array.from({ length: 30 }, (_, n) => `p${String(n).padStart(2, '0')}@example.org`)
    for (const email of emails.toReversed()) await add(email)
    expect(await list()).toEqual({ emails: emails.slice(0, 25), total: 30 })
    expect(await list('', 2)).toEqual({ emails: emails.slice(25), total: 30 })
    expect(await list('', 3)).toEqual({ emails: [], total: 30 })
  })

  test('a search finds any part of an address, whatever its case, without wildcards', async () => {
    for (const email of ['ann@example.org', 'bob@box.example', 'a%b_c@example.org']) await add(email)
    expect(await list('EXAMPLE.ORG')).toEqual({ emails: ['a%b_c@example.org', 'ann@example.org'], total: 2 })
    expect(await list(' box ')).toEqual({ emails: ['bob@box.example'], total: 1 })
    expect(await list('%')).toEqual({ emails: ['a%b_c@example.org'], total: 1 })
    expect(await list('nobody')).toEqual({ emails: [], total: 0 })
  })

  test('the last sign-in is kept after the session has ended, and after a restart', async () => {
    const { id } = await add('ann@example.org')
    const lastSignIn = async () =>
      (await opened.store.people.listPeople({ search: '', pageNumber: 1 })).people[0]?.lastSignInAt
    expect(await lastSignIn()).toBeNull()
    const at = opened.clock.now()
    const session = { accountId: id, hash: Buffer.alloc(32, 1), visit: VISIT, tested: 'x' }
    await opened.store.sessions.addSession(session)
    opened.clock.advance(MINUTE)
    await opened.store.sessions.removeOtherSessions({ accountId: id, id: 0 })
    expect(await lastSignIn()).toBe(at)
    await opened.reopen()
    expect(await lastSignIn()).toBe(at)
  })

  test('only the account’s own live pushes are measured, even if there are many', async () => {
    const ann = await add('ann@example.org')
    const bob = await add('bob@example.org')
    const store = (ownerId: number) => storePush(opened, { ownerId }, { labels: LABELS })
    const first = await store(ann.id)
    const one = await opened.store.people.measureUsage(ann.id)
    expect(one.pushes).toBe(1)
    expect(one.bytes).toBeGreaterThan(0)
    // Create a hundred at a time: one after another would take a busy database longer than the timeout.
    for (let n = 0; n < 10; n += 1) await Promise.all(Array.from({ length: 100 }, () => store(ann.id)))
    await store(bob.id)
    expect(await opened.store.people.measureUsage(ann.id)).toEqual({
      pushes: 1_001,
      bytes: 1_001 * one.bytes,
    })
    await opened.store.pushes.expirePush({ id: first.id, visit: VISIT })
    expect(await opened.store.people.measureUsage(ann.id)).toEqual({
      pushes: 1_000,
      bytes: 1_000 * one.bytes,
    })
  })
}
