// How nodes learn the name and texts that an administrator has set on one of them.

import { expect, test } from 'bun:test'
import type { Appearance } from '../../src/domain/appearance.ts'
import { createAppearanceJob, openAppearance } from '../../src/operating/appearance.ts'
import { waitUntil } from '../support/waiting.ts'

const STARTED = { name: 'Oncebox', contact: null, notice: null }

function createDatabase() {
  let row: Appearance | null = null
  return {
    appearance: {
      find: async () => row,
      keep: async (appearance: Appearance) => {
        row = appearance
      },
    },
  }
}

test('a node soon shows changes made on another, except for settings fixed at its start', async () => {
  const store = createDatabase()
  const one = await openAppearance({ store, started: STARTED, settings: [] })
  const other = await openAppearance({
    store,
    started: { ...STARTED, contact: 'the desk' },
    settings: [{ flag: 'contact', from: '--contact' }],
  })
  const job = createAppearanceJob({ ...other, every: 1 })
  const failures: unknown[] = []
  job.start({ did: () => undefined, failed: (cause) => failures.push(cause) })
  await one.change({ name: 'Larkspur', contact: 'somebody else' })
  expect(one.inEffect().name).toBe('Larkspur')
  await waitUntil(() => other.inEffect().name === 'Larkspur')
  expect(other.inEffect().contact).toBe('the desk')
  await job.stop()
  expect(failures).toEqual([])
})

test('a node without the fixed setting keeps its text while another node changes the rest', async () => {
  const store = createDatabase()
  const one = await openAppearance({ store, started: STARTED, settings: [] })
  const fixed = await openAppearance({
    store,
    started: STARTED,
    settings: [{ flag: 'notice', from: 'ONCEBOX_NOTICE' }],
  })
  await one.change({ notice: 'Closed on Saturday' })
  await fixed.change({ name: 'Larkspur' })
  await one.read()
  expect(one.inEffect()).toEqual({ name: 'Larkspur', contact: null, notice: 'Closed on Saturday' })
})
