// The clock of a node on PostgreSQL: how it uses the readings of the server's clock.

import { describe, expect, test } from 'bun:test'
import { MINUTE, SECOND, wholeMilliseconds } from '../../../../src/domain/time.ts'
import { createDatabaseClock } from '../../../../src/store/postgres/instance/clock.ts'

const START = Date.parse('2026-11-20T12:00:00.000Z')

/** `read` reads the server's clock, and gets its answer after some milliseconds. */
function start() {
  let elapsed = 0
  let server = START
  const clock = createDatabaseClock({
    systemNow: null,
    uptime: () => wholeMilliseconds(elapsed),
    first: { time: START, clockMark: START, clockDoubted: null },
    accept: false,
    maxGap: 7 * 24 * 60 * MINUTE,
    onChange: () => undefined,
  })
  const pass = (ms: number) => {
    elapsed += ms
    server += ms
  }
  const read = (ms: number) => {
    const time = server
    pass(ms)
    clock.observe(time)
  }
  const setBack = (ms: number) => {
    server -= ms
  }
  return { clock, pass, read, setBack, behind: () => server - clock.now() }
}

describe('the clock of a node', () => {
  test('follows the reading with the shortest round trip in the last half minute, not the last one', () => {
    const { read, pass, behind } = start()
    read(400)
    expect(behind()).toBe(0)
    for (let round = 0; round < 50; round += 1) {
      read(1)
      for (const ms of [30, 200, 5]) {
        read(ms)
        expect(behind()).toBeLessThanOrEqual(1)
        expect(behind()).toBeGreaterThanOrEqual(0)
      }
      pass(5 * SECOND)
    }
  })

  test('waits for a server whose clock was turned back to catch up, then follows it', () => {
    const { read, pass, setBack, clock, behind } = start()
    pass(MINUTE)
    read(1)
    const before = clock.now()
    setBack(5 * SECOND)
    for (let beat = 0; beat < 30; beat += 1) {
      pass(5 * SECOND)
      read(1)
      expect(clock.now()).toBeGreaterThanOrEqual(before)
    }
    expect(Math.abs(behind())).toBeLessThanOrEqual(1)
  })
})
