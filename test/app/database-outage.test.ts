// Outages of PostgreSQL are detected and logged: by failed connections, and by heartbeats that are not
// durable.

import { expect, test } from 'bun:test'
import { createDatabaseOutage } from '../../src/app/open-server-store.ts'
import { DomainError } from '../../src/domain/errors.ts'
import { addressOf } from '../support/use-cluster.ts'

const refusedBy = (code: string, state = '') =>
  Object.assign(new Error('said by the client'), { code, ...(state === '' ? {} : { errno: state }) })
const GONE = refusedBy('ERR_POSTGRES_CONNECTION_REFUSED')
const STARTING = refusedBy('ERR_POSTGRES_SERVER_ERROR', '57P03')
const LOGIN = refusedBy('ERR_POSTGRES_SERVER_ERROR', '28P01')
const BUSY = new DomainError('overloaded', 'The database does not answer; try again in a moment.')

function start() {
  const said: string[] = []
  const address = addressOf('postgres://oncebox:secret@db.example/boxes')
  return { said, ...createDatabaseOutage(address, (line) => said.push(line)) }
}

test('a restart is logged in one line with the remedy, and its end in another', () => {
  const { said, onState, onBeat, isOn, explainLoss } = start()
  onState(GONE)
  onState(STARTING)
  for (let beats = 0; beats < 5; beats += 1) onBeat(BUSY)
  expect(isOn()).toBe(true)
  expect(explainLoss()).toContain('it is starting or stopping')
  onState(null)
  onBeat(null)
  expect(isOn()).toBe(false)
  expect(explainLoss()).toBeNull()
  expect(said).toEqual([
    expect.stringMatching(/^PostgreSQL cannot be used; .* nothing answers there.* goes on by itself/),
    'PostgreSQL is used again.',
  ])
  expect(said.join()).not.toContain('secret')
})

test('a permanent refusal after an outage is logged too', () => {
  const { said, onState } = start()
  onState(GONE)
  onState(LOGIN)
  expect(said[1]).toContain('it refuses the user "oncebox" or the password')
  expect(said[1]).not.toContain('goes on by itself')
})

test('a server that takes no changes is logged once, after the second failed heartbeat', () => {
  const { said, onBeat, isOn } = start()
  onBeat(BUSY)
  expect(said).toEqual([])
  onBeat(BUSY)
  onBeat(BUSY)
  expect(isOn()).toBe(true)
  onBeat(null)
  expect(said).toEqual([
    expect.stringContaining('answers, but takes no changes'),
    'PostgreSQL takes changes again.',
  ])
})

test('a heartbeat that fails for another reason is no outage', () => {
  const { said, onBeat, isOn } = start()
  for (let beats = 0; beats < 5; beats += 1) onBeat(new Error('no such column'))
  expect([said, isOn()]).toEqual([[], false])
})
