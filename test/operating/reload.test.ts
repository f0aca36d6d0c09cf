// Reloads: which parts they include, and how many of them a flood of signals causes.

import { expect, test } from 'bun:test'
import { createReload } from '../../src/operating/reload.ts'

function openLog() {
  const lines: [string, object][] = []
  const note = (fields: object, message: string) => lines.push([message, fields])
  return { lines, log: { info: note, error: note } as never }
}

test('a part that fails to reload is logged, and the others are reloaded', async () => {
  const done: string[] = []
  const { lines, log } = openLog()
  const reload = createReload({
    log,
    reloadables: [
      {
        name: 'broken',
        reload: () => {
          throw new Error('no')
        },
      },
      { name: 'whole', reload: async () => done.push('whole') > 0 },
    ],
  })
  await reload()
  await reload()
  expect(done).toEqual(['whole', 'whole'])
  const messages = lines.map(([message]) => message)
  expect(messages).toEqual(['not reloaded', 'reloaded', 'not reloaded', 'reloaded'])
})

test('only changed parts are reported as reloaded', async () => {
  const { lines, log } = openLog()
  let isNew = true
  const same = { name: 'same', reload: async () => false }
  const reload = createReload({ log, reloadables: [same, { name: 'new', reload: async () => isNew }] })
  await reload()
  isNew = false
  await reload()
  expect(lines).toEqual([
    ['reloaded', { parts: ['new'] }],
    ['a reload changed nothing', { parts: [] }],
  ])
})

test('a flood of signals causes one reload after the running one', async () => {
  let started = 0
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const log = { info: () => undefined, error: () => undefined }
  const part = {
    name: 'slow',
    reload: async () => {
      started += 1
      await gate
      return true
    },
  }
  const reload = createReload({ log: log as never, reloadables: [part] })
  const first = reload()
  await Bun.sleep(0)
  expect(started).toBe(1)
  const flood = Array.from({ length: 10_000 }, reload)
  open()
  await Promise.all([first, ...flood])
  expect(started).toBe(2)
  await reload()
  expect(started).toBe(3)
})
