// The list of jobs: all are started and stopped together, and each reports when it last did something or
// failed.

import { describe, expect, test } from 'bun:test'
import { DomainError } from '../../src/domain/errors.ts'
import type { Job, JobName, JobReport } from '../../src/domain/job.ts'
import { createJobs } from '../../src/operating/jobs.ts'
import { createTestClock, START } from '../support/instance.ts'

type Faults = { onStart?: JobName; onStop?: JobName; isOut?: () => boolean }

function jobsWith(names: JobName[], faults: Faults = {}) {
  const clock = createTestClock()
  const calls: string[] = []
  const logged: [object, string][] = []
  const reports: Partial<Record<JobName, JobReport>> = {}
  const jobOf = (name: JobName): Job => ({
    name,
    start: (report) => {
      calls.push(`start ${name}`)
      if (faults.onStart === name) throw new Error(`${name} cannot start`)
      reports[name] = report
    },
    stop: async () => {
      calls.push(`stop ${name}`)
      if (faults.onStop === name) throw new Error(`${name} cannot stop`)
    },
  })
  const log = { error: (fields: object, message: string) => void logged.push([fields, message]) }
  const { isOut } = faults
  const jobs = createJobs({ jobs: names.map(jobOf), now: clock.now, log, isOut })
  return { jobs, clock, calls, logged, reports }
}

describe('the list', () => {
  test('shows each job as stopped before the start, running after it, and stopped at the end', async () => {
    const { jobs } = jobsWith(['sweep', 'clock'])
    const states = () => jobs.list().map(({ name, state }) => `${name} ${state}`)
    expect(states()).toEqual(['sweep stopped', 'clock stopped'])
    await jobs.start()
    expect(states()).toEqual(['sweep running', 'clock running'])
    await jobs.stop()
    expect(states()).toEqual(['sweep stopped', 'clock stopped'])
  })

  test('shows when a job last did something and when it last failed', async () => {
    const { jobs, clock, reports } = jobsWith(['sweep'])
    await jobs.start()
    expect(jobs.list()).toEqual([{ name: 'sweep', state: 'running', lastDidAt: null, lastFailedAt: null }])
    reports.sweep?.failed(new Error('no'))
    clock.advance(1_000)
    reports.sweep?.did()
    expect(jobs.list()).toEqual([
      { name: 'sweep', state: 'running', lastDidAt: START + 1_000, lastFailedAt: START },
    ])
  })

  test('is a copy', async () => {
    const { jobs } = jobsWith(['sweep'])
    const [first] = jobs.list()
    Object.assign(first ?? {}, { state: 'stopped' })
    expect(jobs.list()[0]?.state).toBe('stopped')
  })
})

test('a failure is logged with the name of the job; a refusal without its stack', async () => {
  const { jobs, logged, reports } = jobsWith(['sweep'])
  await jobs.start()
  const cause = new Error('no')
  reports.sweep?.failed(cause)
  reports.sweep?.failed(new DomainError('disk_full', 'The disk is full.'))
  expect(logged).toEqual([
    [{ job: 'sweep', err: cause }, 'a job failed'],
    [{ job: 'sweep' }, 'a job failed: The disk is full.'],
  ])
})

test.each([
  ['refusal', new DomainError('overloaded', 'The database does not answer.')],
  ['failure', new Error('no such column')],
])('a continuing %s is logged once, and again after the job has done something', async (_, cause) => {
  const { jobs, logged, reports } = jobsWith(['expiry'])
  await jobs.start()
  const refuse = () => reports.expiry?.failed(cause)
  refuse()
  refuse()
  expect(logged).toHaveLength(1)
  reports.expiry?.did()
  refuse()
  expect(logged).toHaveLength(2)
})

describe('while the log reports an outage of the database', () => {
  const AWAY = new DomainError('overloaded', 'The database does not answer.')

  test('jobs do not log their refusals, only other failures', async () => {
    const { jobs, clock, logged, reports } = jobsWith(['sweep', 'heartbeat'], { isOut: () => true })
    await jobs.start()
    for (let minutes = 0; minutes < 3; minutes += 1) {
      clock.advance(60_000)
      reports.sweep?.failed(AWAY)
      reports.heartbeat?.failed(AWAY)
    }
    reports.sweep?.failed(new DomainError('disk_full', 'The disk of the database server is full.'))
    expect(logged).toEqual([])
    expect(jobs.list()[0]?.lastFailedAt).toBe(clock.now())
    const other = new Error('no such column')
    reports.sweep?.failed(other)
    expect(logged).toEqual([[{ job: 'sweep', err: other }, 'a job failed']])
  })

  test('a job that is refused without an outage is logged after a while', async () => {
    const { jobs, clock, logged, reports } = jobsWith(['sweep'], { isOut: () => false })
    await jobs.start()
    reports.sweep?.failed(AWAY)
    clock.advance(29_000)
    reports.sweep?.failed(AWAY)
    expect(logged).toEqual([])
    clock.advance(1_000)
    reports.sweep?.failed(AWAY)
    reports.sweep?.failed(AWAY)
    expect(logged).toEqual([[{ job: 'sweep' }, `a job failed: ${AWAY.message}`]])
    reports.sweep?.did()
    reports.sweep?.failed(AWAY)
    expect(logged).toHaveLength(1)
  })
})

test('a job that cannot start stops the others, and the start fails', async () => {
  const { jobs, calls } = jobsWith(['sweep', 'clock', 'reserve'], { onStart: 'clock' })
  await expect(jobs.start()).rejects.toThrow('clock cannot start')
  expect(calls).toEqual(['start sweep', 'start clock', 'stop sweep', 'stop clock', 'stop reserve'])
  expect(jobs.list().map(({ state }) => state)).toEqual(['stopped', 'stopped', 'stopped'])
})

test('a job that fails to stop is logged, and the others stop', async () => {
  const { jobs, calls, logged } = jobsWith(['sweep', 'clock'], { onStop: 'sweep' })
  await jobs.start()
  await jobs.stop()
  expect(calls).toEqual(['start sweep', 'start clock', 'stop sweep', 'stop clock'])
  expect(logged).toHaveLength(1)
  expect(jobs.list().map(({ state }) => state)).toEqual(['stopped', 'stopped'])
})
