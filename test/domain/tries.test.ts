// Wrong passphrases: when they lock or expire a push, and how its owner unlocks it.

import { expect, test } from 'bun:test'
import { asCreated, isEndedByTries, isLocked, type Push, passphraseLockedFor } from '../../src/domain/push.ts'
import { MINUTE, SECOND } from '../../src/domain/time.ts'
import { decideClaim, decideLastTry, decideRefusal } from '../../src/domain/visits.ts'
import { examplePush, VISIT } from '../support/store.ts'

const NOW = Date.parse('2026-11-20T12:00:00.000Z')

/** Returns the push after one more wrong passphrase. Even a push without a passphrase may get one. */
function countWrongTry(push: Push, now: number): Push {
  return decideRefusal(push, { visit: VISIT, wrong: true }, now).change?.after ?? push
}

test('the window of wrong tries starts with the first wrong try, not with the push', () => {
  const push = examplePush(NOW)
  const tried = countWrongTry(push, NOW + 30 * SECOND)
  expect(tried).toMatchObject({ wrongTries: 1, wrongTriesSince: NOW + 30 * SECOND, wrongTriesInAll: 1 })
  const again = countWrongTry(tried, NOW + 45 * SECOND)
  expect(again).toMatchObject({ wrongTries: 2, wrongTriesSince: NOW + 30 * SECOND, wrongTriesInAll: 2 })
})

test('five wrong tries within a minute lock the push for the rest of the minute', () => {
  let push: Push = examplePush(NOW)
  for (let i = 0; i < 5; i += 1) {
    expect(passphraseLockedFor(push, NOW + i * SECOND)).toBe(0)
    push = countWrongTry(push, NOW + i * SECOND)
  }
  expect(passphraseLockedFor(push, NOW + 5 * SECOND)).toBe(55 * SECOND)
  expect(passphraseLockedFor(push, NOW + MINUTE)).toBe(0)
  expect(countWrongTry(push, NOW + MINUTE)).toMatchObject({ wrongTries: 1, wrongTriesSince: NOW + MINUTE })
})

test.each([
  [9, 10, false],
  [10, 10, true],
  [11, 10, true],
  [1, 1, true],
  [0, 0, false],
  [1_000_000, 0, false],
])('after %d wrong tries of %d the last one is used up: %p', (wrongTriesInAll, maxTries, isLast) => {
  const push = examplePush(NOW, { wrongTriesInAll })
  expect(decideLastTry(push, { visit: VISIT, maxTries }, NOW) !== null).toBe(isLast)
})

test.each([
  [true, { locked: false, ended: true, expiredOn: NOW + 1 }],
  [false, { locked: true, ended: false, expiredOn: null }],
  [null, { locked: true, ended: false, expiredOn: null }],
])(
  'a push that viewers may delete: %p, after its last try',
  (deletableByViewer, { locked, ended, expiredOn }) => {
    const live = examplePush(NOW, { deletableByViewer, wrongTriesInAll: 1 })
    expect([isLocked(live), isEndedByTries(live)]).toEqual([false, false])
    const spent = decideLastTry(live, { visit: VISIT, maxTries: 1 }, NOW + 1)?.after ?? live
    expect(spent).toMatchObject({ triesSpent: true, expiredOn, deleted: false, updatedAt: NOW + 1 })
    expect([isLocked(spent), isEndedByTries(spent)]).toEqual([locked, ended])
  },
)

test('a push in its state at creation has no views, no tries and no expiry', () => {
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

test('a push without remaining views is expired, even if its expiry was not recorded', () => {
  const push = examplePush(NOW, { views: 5, expireAfterViews: 5 })
  expect(decideClaim(push, { visit: VISIT, lookBy: null }, NOW)).toMatchObject({
    outcome: 'expired',
    change: { after: push, entry: { kind: 'failed_view' } },
  })
})

test('a window counts if the clock of its node was slightly ahead, but not if it was far ahead', () => {
  const push = countWrongTry(examplePush(NOW), NOW)
  expect(countWrongTry(push, NOW - SECOND)).toMatchObject({ wrongTries: 2, wrongTriesSince: NOW })
  expect(countWrongTry(push, NOW - MINUTE)).toMatchObject({ wrongTries: 1, wrongTriesSince: NOW - MINUTE })
})
