// The rules of a push: views, expiry, permissions.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Account } from '../../src/domain/account.ts'
import { daysRemaining, isExpired, isOwner, mayExpire, viewsRemaining } from '../../src/domain/push.ts'
import { DAY } from '../../src/domain/time.ts'
import { decideClaim } from '../../src/domain/visits.ts'
import { examplePush, VISIT } from '../support/store.ts'

const NOW = Date.parse('2026-11-20T12:00:00.000Z')
const ann: Account = {
  id: 1,
  email: 'ann@example.org',
  isAdmin: false,
  hasTwoFactor: false,
  hasAuthenticator: false,
  passkeys: 0,
  disabledAt: null,
  createdAt: NOW,
  resets: 0,
  hasPassword: true,
  isService: false,
}

test('a push allows exactly its number of views, and the last one expires it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 80 }), (allowed, asked) => {
      let push = examplePush(NOW, { expireAfterViews: allowed })
      const outcomes = Array.from({ length: asked }, () => {
        const { outcome, change } = decideClaim(push, { visit: VISIT, lookBy: null }, NOW)
        push = change?.after ?? push
        return outcome
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
  const { outcome } = decideClaim(push, { visit: VISIT, lookBy: null }, push.expiresAt + past)
  expect(outcome).toBe(expired ? 'expired' : 'view')
})

test('the owner’s own view does not count; that of another account does', () => {
  const push = examplePush(NOW, { ownerId: 1, expireAfterViews: 1 })
  const visitOf = (lookBy: Account | null, now = NOW) => decideClaim(push, { visit: VISIT, lookBy }, now)
  expect(visitOf(ann)).toMatchObject({
    outcome: 'view',
    change: { after: push, entry: { kind: 'owner_view' } },
  })
  for (const other of [null, { ...ann, id: 2 }])
    expect(visitOf(other).change).toMatchObject({
      entry: { kind: 'view' },
      after: { views: 1, expiredOn: NOW },
    })
  expect(visitOf(ann, push.expiresAt)).toMatchObject({
    outcome: 'expired',
    change: { entry: { kind: 'failed_view' } },
  })
})

test('the remaining days count down to zero', () => {
  const push = examplePush(NOW, { expireAfterDays: 3 })
  const at = [0, DAY - 1, DAY, 2 * DAY, 3 * DAY, 30 * DAY, -DAY]
  expect(at.map((elapsed) => daysRemaining(push, NOW + elapsed))).toEqual([3, 3, 2, 1, 0, 0, 3])
})

test('an anonymous push has no owner, and an anonymous viewer owns no push', () => {
  const anonymous = examplePush(NOW, { deletableByViewer: false })
  expect([isOwner(anonymous, null), mayExpire(anonymous, null)]).toEqual([false, false])
  expect([isOwner(anonymous, ann), mayExpire(anonymous, ann)]).toEqual([false, false])
})

test.each([
  [true, null, true],
  [false, null, false],
  [null, null, false],
  [false, ann, true],
  [null, ann, true],
  [false, { ...ann, id: 2 }, false],
])('with deletable_by_viewer %p, account %p may delete: %p', (deletableByViewer, account, allowed) => {
  expect(mayExpire(examplePush(NOW, { ownerId: 1, deletableByViewer }), account)).toBe(allowed)
})
