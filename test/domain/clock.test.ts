// The clock of the app: it never runs backwards, and a jump ahead is doubted until it is confirmed.

import { expect, test } from 'bun:test'
import { type ClockMark, createClock, type Doubt } from '../../src/domain/clock.ts'
import { DAY, HOUR, MINUTE, SECOND, wholeMilliseconds } from '../../src/domain/time.ts'

const START = Date.parse('2026-11-20T12:00:00.000Z')

function start(options: { at?: number; stored?: ClockMark; maxGap?: number; accept?: boolean } = {}) {
  const { at = START, stored = { mark: 0, doubted: null }, maxGap = 7 * DAY, accept = false } = options
  const machine = { time: at, up: 0 }
  const told: (Doubt | null)[] = []
  const clock = createClock({
    systemNow: () => machine.time,
    uptime: () => wholeMilliseconds(machine.up),
    stored,
    maxGap,
    accept,
    onChange: (doubt) => told.push(doubt),
  })
  const pass = (ms: number) => {
    machine.time += ms
    machine.up += ms
  }
  const jump = (ms: number) => {
    machine.time += ms
  }
  return { clock, pass, jump, told }
}

test('a start more than a day before the last use is refused, naming both times, unless the clock is accepted', () => {
  const late = { mark: START + DAY + 1, doubted: null }
  expect(() => start({ stored: late })).toThrow(/this machine says .*12:00.* was in use at .*--accept-clock/)
  expect(start({ stored: { mark: START + DAY, doubted: null } }).clock.now()).toBe(START + DAY)
  expect(start({ stored: late, accept: true }).clock.now()).toBe(START)
  const doubted = { mark: START - 30 * DAY, doubted: START }
  expect(start({ stored: doubted }).clock.doubt()).not.toBeNull()
  expect(start({ stored: doubted, accept: true }).clock.doubt()).toBeNull()
})

test('it never runs backwards', () => {
  const { clock, pass, jump } = start({ stored: { mark: START + MINUTE, doubted: null } })
  expect(clock.now()).toBe(START + MINUTE)
  pass(2 * MINUTE)
  expect(clock.now()).toBe(START + 2 * MINUTE)
  jump(-300 * DAY)
  expect(clock.now()).toBe(START + 2 * MINUTE)
  expect(clock.doubt()).toBeNull()
})

test('the clock doubts a jump of more than a day, but not a day, nor a month of sleep', () => {
  const { clock, pass, jump, told } = start()
  jump(DAY)
  expect([clock.doubt(), clock.trusted()]).toEqual([null, START + DAY])
  pass(30 * DAY)
  expect(clock.doubt()).toBeNull()
  jump(MINUTE)
  expect(clock.now()).toBe(START + 31 * DAY + MINUTE)
  expect(clock.doubt()).toEqual({ said: START + 31 * DAY + MINUTE, expected: START + 31 * DAY })
  expect(told).toHaveLength(1)
})

test('many small jumps add up to a large one', () => {
  const { clock, pass, jump } = start()
  for (let n = 0; n < 24; n += 1) {
    jump(HOUR)
    pass(SECOND)
    expect(clock.doubt()).toBeNull()
  }
  jump(HOUR)
  expect(clock.doubt()).not.toBeNull()
})

test('in doubt, nothing is destroyed by time, and the expected time follows the uptime', () => {
  const { clock, pass, jump, told } = start()
  jump(100 * DAY)
  pass(HOUR)
  expect([clock.now(), clock.trusted()]).toEqual([START + 100 * DAY + HOUR, null])
  expect(clock.doubt()?.expected).toBe(START + HOUR)
  clock.accept()
  pass(HOUR)
  expect([clock.now(), clock.trusted()]).toEqual([START + 100 * DAY + 2 * HOUR, START + 100 * DAY + 2 * HOUR])
  expect([clock.doubt(), told.length, told[1]]).toEqual([null, 2, null])
})

test('a corrected clock is trusted again, and time continues from the last trusted reading', () => {
  const { clock, pass, jump, told } = start()
  jump(100 * DAY)
  expect(clock.doubt()).not.toBeNull()
  pass(HOUR)
  jump(-100 * DAY)
  expect([clock.doubt(), clock.now(), clock.trusted()]).toEqual([null, START + HOUR, START + HOUR])
  expect(told.at(-1)).toBeNull()
})

test('a start long after the last use is in doubt; a start within the gap, or in a new folder, is not', () => {
  const stored = { mark: START, doubted: null }
  expect(start({ at: START + 7 * DAY, stored }).clock.doubt()).toBeNull()
  expect(start({ at: START + 7 * DAY + 1, stored }).clock.doubt()).toEqual({
    said: START + 7 * DAY + 1,
    expected: START,
  })
  expect(start({ at: START + 8 * DAY, stored, maxGap: 30 * DAY }).clock.doubt()).toBeNull()
  expect(start({ at: START }).clock.doubt()).toBeNull()
})

test('a doubt survives a restart until the clock is corrected, however small the jump was', () => {
  const stored = { mark: START, doubted: START + 2 * DAY }
  const { clock } = start({ at: START + 2 * DAY + MINUTE, stored })
  expect([clock.trusted(), clock.doubt()?.expected]).toEqual([null, START])
  expect(start({ at: START + MINUTE, stored }).clock.doubt()).toBeNull()
})
