// The rules of a request: when it accepts an answer, and the effect of wrong passphrases.

import { describe, expect, test } from 'bun:test'
import {
  decideAnswer,
  decideWrongTry,
  hasRoomForAnswer,
  isOver,
  type SecretRequest,
} from '../../src/domain/requests.ts'
import { DAY, MINUTE } from '../../src/domain/time.ts'
import { exampleRequest } from '../support/store.ts'

const NOW = Date.parse('2026-11-20T12:00:00.000Z')
const request = (changes: Partial<SecretRequest> = {}): SecretRequest => ({
  ...exampleRequest(1, NOW),
  maxAnswers: 3,
  ...changes,
})

describe('a request is over', () => {
  test.each([
    [{}, NOW, false],
    [{}, NOW + DAY - 1, false],
    [{}, NOW + DAY, true],
    [{ closedAt: NOW - 1 }, NOW, true],
    [{ createdAt: NOW + DAY, expiresAt: NOW + 2 * DAY }, NOW, false],
    [{ createdAt: NOW + DAY + 1, expiresAt: NOW + 2 * DAY }, NOW, true],
  ])('with %j at %d: %p', (changes, now, over) => {
    expect(isOver(request(changes), now)).toBe(over)
  })
})

describe('an answer', () => {
  test('fits beside the arrived and the reserved ones', () => {
    expect(hasRoomForAnswer(request({ answers: 1 }), 1, NOW)).toBe(true)
    expect(hasRoomForAnswer(request({ answers: 1 }), 2, NOW)).toBe(false)
    expect(hasRoomForAnswer(request({ answers: 3 }), 0, NOW)).toBe(false)
    expect(hasRoomForAnswer(request(), 0, NOW + DAY)).toBe(false)
  })

  test('is counted, and the last one closes the request', () => {
    expect(decideAnswer(request({ answers: 1 }), 0, NOW)).toEqual(request({ answers: 2 }))
    expect(decideAnswer(request({ answers: 2 }), 0, NOW)).toEqual(request({ answers: 3, closedAt: NOW }))
    expect(decideAnswer(request({ answers: 2 }), 1, NOW)).toBeNull()
    expect(decideAnswer(request({ closedAt: NOW }), 0, NOW)).toBeNull()
  })
})

describe('a wrong passphrase', () => {
  const tried = (wrongTries: number, since = NOW, inAll = wrongTries) =>
    request({ wrongTries, wrongTriesSince: since, wrongTriesInAll: inAll })

  test('starts a window of a minute, in which five are checked', () => {
    const first = decideWrongTry(request(), 100, NOW + 7)
    expect(first).toEqual({ outcome: 'refused', request: tried(1, NOW + 7) })
    expect(decideWrongTry(tried(4), 100, NOW + 1)).toEqual({ outcome: 'refused', request: tried(5) })
    expect(decideWrongTry(tried(5), 100, NOW + MINUTE - 1)).toEqual({ outcome: 'limited', request: tried(5) })
    const next = decideWrongTry(tried(5), 100, NOW + MINUTE)
    expect(next).toEqual({ outcome: 'refused', request: tried(1, NOW + MINUTE, 6) })
  })

  test('closes the request if it is the last allowed one; 0 means no limit', () => {
    expect(decideWrongTry(tried(1, NOW, 98), 100, NOW).request.closedAt).toBeNull()
    expect(decideWrongTry(tried(1, NOW, 99), 100, NOW).request.closedAt).toBe(NOW)
    expect(decideWrongTry(tried(1, NOW, 9999), 0, NOW).request.closedAt).toBeNull()
    const closed = request({ closedAt: NOW })
    expect(decideWrongTry(closed, 100, NOW)).toEqual({ outcome: 'closed', request: closed })
  })
})
