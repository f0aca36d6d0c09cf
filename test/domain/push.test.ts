// The rules of a push: views, expiry, passphrases, permissions.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Account } from '../../src/domain/account.ts'
import {
  countWrongTry,
  daysRemaining,
  decideView,
  expireByHand,
  isExpired,
  isOwner,
  lapse,
  mayAudit,
  mayExpire,
  passphraseLockedFor,
  viewsRemaining,
} from '../../src/domain/push.ts'
import { DAY, MINUTE, SECOND } from '../../src/domain/time.ts'
import { examplePush } from '../support/store.ts'

const NOW = Date.parse('2026-11-20T12:00:00.000Z')
const ann: Account = {
  id: 1,
  email: 'ann@example.org',
  isAdmin: false,
  hasTwoFactor: false,
  disabledAt: null,
  createdAt: NOW,
  resets: 0,
}

test('a push allows exactly its number of views, and the last one expires it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 80 }), (allowed, asked) => {
      let push = examplePush(NOW, { expireAfterViews: allowed })
      const outcomes = Array.from({ length: asked }, () => {
        const decision = decideView(push, { now: NOW, lookBy: null })
        push = decision.push
        return decision.outcome
      })
      expect(outcomes.filter((outcome) => outcome === 'view')).toHaveLength(Math.min(allowed, asked))
      expect(push.expiredOn !== null).toBe(asked >= allowed)
      expect(viewsRemaining(push)).toBe(Math.max(0, allowed - asked))
    }),
  )
})

test.each([
  [-1, false],
  [0, true],
  [1, true],
])('%p ms after its expiry time, a push is expired: %p', (past, expired) => {
  const push = examplePush(NOW)
  expect(isExpired(push, push.expiresAt + past)).toBe(expired)
  expect(decideView(push, { now: push.expiresAt + past, lookBy: null }).outcome).toBe(
    expired ? 'expired' : 'view',
  )
})

test("an owner's look at their own push does not count; anybody else's does", () => {
  const push = examplePush(NOW, { ownerId: 1, expireAfterViews: 1 })
  const decisionFor = (account: Account | null) => decideView(push, { now: NOW, lookBy: account })
  expect(decisionFor(ann)).toEqual({ outcome: 'view', kind: 'owner_view', push })
  for (const other of [null, { ...ann, id: 2 }])
    expect(decisionFor(other)).toMatchObject({ kind: 'view', push: { views: 1, expiredOn: NOW } })
  const late = decideView(push, { now: push.expiresAt, lookBy: ann })
  expect(late).toMatchObject({ outcome: 'expired', kind: 'failed_view' })
})

test('expiry by time is recorded once, with its exact time', () => {
  const push = examplePush(NOW)
  const lapsed = lapse(push, push.expiresAt + 5 * DAY)
  expect(lapsed).toMatchObject({ expiredOn: push.expiresAt, deleted: false })
  expect(lapse(lapsed, NOW + 99 * DAY)).toBe(lapsed)
})

test('the remaining days count down to zero', () => {
  const push = examplePush(NOW, { expireAfterDays: 3 })
  const at = [0, DAY - 1, DAY, 2 * DAY, 3 * DAY, 30 * DAY, -DAY]
  expect(at.map((elapsed) => daysRemaining(push, NOW + elapsed))).toEqual([3, 3, 2, 1, 0, 0, 3])
})

test('five wrong tries within a minute lock the push for the rest of the minute', () => {
  let push = examplePush(NOW)
  for (let i = 0; i < 5; i += 1) {
    expect(passphraseLockedFor(push, NOW + i * SECOND)).toBe(0)
    push = countWrongTry(push, NOW + i * SECOND)
  }
  expect(passphraseLockedFor(push, NOW + 5 * SECOND)).toBe(55 * SECOND)
  expect(passphraseLockedFor(push, NOW + MINUTE)).toBe(0)
  expect(countWrongTry(push, NOW + MINUTE)).toMatchObject({ wrongTries: 1, wrongTriesSince: NOW + MINUTE })
})

test('an anonymous push has no owner, and an anonymous viewer owns nothing', () => {
  const anonymous = examplePush(NOW, { deletableByViewer: false })
  expect([isOwner(anonymous, null), mayExpire(anonymous, null)]).toEqual([false, false])
  expect([isOwner(anonymous, ann), mayExpire(anonymous, ann)]).toEqual([false, false])
})

test('only the owner may read the log of a push, even if others may delete it', () => {
  const push = examplePush(NOW, { ownerId: 1, deletableByViewer: true })
  expect([ann, { ...ann, id: 2 }, null].map((account) => mayAudit(push, account))).toEqual([
    true,
    false,
    false,
  ])
  expect(mayAudit(examplePush(NOW, { ownerId: null }), ann)).toBe(false)
})

test.each([
  [true, null, true],
  [false, null, false],
  [null, null, false],
  [false, ann, true],
  [null, ann, true],
  [false, { ...ann, id: 2 }, false],
])('deletable %p by %p: %p', (deletableByViewer, account, allowed) => {
  expect(mayExpire(examplePush(NOW, { ownerId: 1, deletableByViewer }), account)).toBe(allowed)
})

test('a push can be deleted once, and not after it expired by time', () => {
  const push = examplePush(NOW)
  const deleted = expireByHand(push, NOW + 1, { hasGrants: false })
  expect(deleted).toMatchObject({ expiredOn: NOW + 1, deleted: true })
  expect(expireByHand(deleted, NOW + 2, { hasGrants: true })).toBe(deleted)
  expect(expireByHand(push, push.expiresAt, { hasGrants: false })).toMatchObject({
    expiredOn: push.expiresAt,
    deleted: false,
  })
})
