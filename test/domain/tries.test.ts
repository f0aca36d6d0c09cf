// Wrong passphrases: when they lock a push, when they expire it, and what its owner can undo.

import { expect, test } from 'bun:test'
import {
  asCreated,
  countWrongTry,
  decideView,
  expireByHand,
  isEndedByTries,
  isLastTry,
  isLocked,
  type Push,
  spendTries,
  unlock,
} from '../../src/domain/push.ts'
import { MINUTE, SECOND } from '../../src/domain/time.ts'
import { examplePush } from '../support/store.ts'

const NOW = Date.parse('2026-11-20T12:00:00.000Z')

test('the window of wrong tries starts with the first wrong try, not with the push', () => {
  const push = examplePush(NOW)
  const tried = countWrongTry(push, NOW + 30 * SECOND)
  expect(tried).toMatchObject({ wrongTries: 1, wrongTriesSince: NOW + 30 * SECOND, wrongTriesInAll: 1 })
  const again = countWrongTry(tried, NOW + 45 * SECOND)
  expect(again).toMatchObject({ wrongTries: 2, wrongTriesSince: NOW + 30 * SECOND, wrongTriesInAll: 2 })
})

test.each([
  [9, 10, false],
  [10, 10, true],
  [11, 10, true],
  [1, 1, true],
  [0, 0, false],
  [1_000_000, 0, false],
])('after %d wrong tries of %d the last one is spent: %p', (wrongTriesInAll, maxTries, isLast) => {
  expect(isLastTry(examplePush(NOW, { wrongTriesInAll }), maxTries)).toBe(isLast)
})

test.each([
  [true, { locked: false, ended: true, expiredOn: NOW + 1 }],
  [false, { locked: true, ended: false, expiredOn: null }],
  [null, { locked: true, ended: false, expiredOn: null }],
])(
  'a push that viewers may delete: %p, after its last try',
  (deletableByViewer, { locked, ended, expiredOn }) => {
    const live = examplePush(NOW, { deletableByViewer })
    expect([isLocked(live), isEndedByTries(live)]).toEqual([false, false])
    const spent = spendTries(live, NOW + 1)
    expect(spent).toMatchObject({ triesSpent: true, expiredOn, deleted: false, updatedAt: NOW + 1 })
    expect([isLocked(spent), isEndedByTries(spent)]).toEqual([locked, ended])
  },
)

test('unlocking sets all counts of wrong tries to zero', () => {
  const counts = { wrongTries: 5, wrongTriesInAll: 100, triesSpent: true }
  const locked = examplePush(NOW, { deletableByViewer: false, ...counts })
  const unlocked = unlock(locked, NOW + 1)
  expect(unlocked).toMatchObject({ wrongTries: 0, wrongTriesInAll: 0, triesSpent: false, updatedAt: NOW + 1 })
  expect(isLocked(unlocked)).toBe(false)
})

test('a push in its state at creation has no views, no tries and no end', () => {
  const created = examplePush(NOW, { deletableByViewer: null })
  const used = {
    views: 3,
    wrongTries: 2,
    wrongTriesInAll: 9,
    triesSpent: true,
    expiredOn: NOW,
    deleted: true,
  }
  expect<Push>(asCreated({ ...created, ...used, updatedAt: NOW + 5 })).toEqual(created)
})

test('a push whose views are used up is expired, even when its expiry was not recorded', () => {
  const push = examplePush(NOW, { views: 5, expireAfterViews: 5 })
  expect(decideView(push, { now: NOW, lookBy: null })).toEqual({
    outcome: 'expired',
    kind: 'failed_view',
    push,
  })
})

test('a deletion ends the downloads of a push after its last view, once', () => {
  const viewed = examplePush(NOW, { views: 5, expiredOn: NOW })
  const deleted = expireByHand(viewed, NOW + 1, { hasGrants: true })
  expect(deleted).toEqual({ ...viewed, deleted: true, updatedAt: NOW + 1 })
  expect(expireByHand(deleted, NOW + 2, { hasGrants: true })).toEqual(deleted)
  expect(expireByHand(viewed, NOW + 1, { hasGrants: false })).toEqual(viewed)
  const live = expireByHand(examplePush(NOW), NOW + 1, { hasGrants: true })
  expect(live).toMatchObject({ deleted: true, expiredOn: NOW + 1 })
})

test('a window that another node began by a clock a little later counts; one by a clock far ahead does not', () => {
  const push = countWrongTry(examplePush(NOW), NOW)
  expect(countWrongTry(push, NOW - SECOND)).toMatchObject({ wrongTries: 2, wrongTriesSince: NOW })
  expect(countWrongTry(push, NOW - MINUTE)).toMatchObject({ wrongTries: 1, wrongTriesSince: NOW - MINUTE })
})
