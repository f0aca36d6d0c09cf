// The uptime of the machine, in milliseconds although Bun reports seconds.

import { expect, test } from 'bun:test'
import { createUptime } from '../../src/cli/shell.ts'
import { HOUR, SECOND } from '../../src/domain/time.ts'

function start() {
  const machine = { up: 5000.4, awake: 70 }
  const uptime = createUptime({ seconds: () => Math.ceil(machine.up), elapsed: () => machine.awake * SECOND })
  const pass = (seconds: number) => {
    machine.up += seconds
    machine.awake += seconds
  }
  const sleep = (seconds: number) => {
    machine.up += seconds
  }
  return { uptime, pass, sleep, machine }
}

test('the uptime advances by milliseconds between two seconds of the machine', () => {
  const { uptime, pass } = start()
  const first = uptime()
  for (let step = 1; step <= 40; step += 1) {
    pass(0.1)
    expect(Math.abs(uptime() - first - step * 100)).toBeLessThanOrEqual(1)
    expect(uptime() % 1).toBe(0)
  }
})

test('the uptime does not drift from the machine within a year', () => {
  const { uptime, pass, machine } = start()
  for (let hour = 0; hour < 365 * 24; hour += 1) {
    pass(HOUR / SECOND)
    machine.awake += 0.01
    expect(Math.abs(uptime() - machine.up * SECOND)).toBeLessThan(3 * SECOND)
  }
})

test('the uptime includes the time in which the machine slept', () => {
  const { uptime, sleep } = start()
  const first = uptime()
  sleep(3600)
  expect(Math.abs(uptime() - first - HOUR)).toBeLessThan(2 * SECOND)
})
