// Reloads: which parts they reach, and how many of them a flood of signals makes.

import { expect, test } from 'bun:test'
import { createReload } from '../../src/operating/reload.ts'

test('a part that fails to reload is logged and does not keep the others from it', async () => {
  const done: string[] = []
  const lines: string[] = []
  const log = {
    info: (_: object, message: string) => lines.push(message),
    error: (_: object, message: string) => lines.push(message),
  }
  const reload = createReload({
    log: log as never,
    reloadables: [
      {
        name: 'broken',
        reload: () => {
          throw new Error('no')
        },
      },
      { name: 'whole', reload: async () => void done.push('whole') },
    ],
  })
  await reload()
  await reload()
  expect(done).toEqual(['whole', 'whole'])
  expect(lines).toEqual(['not reloaded', 'reloaded', 'not reloaded', 'reloaded'])
})

test('a flood of signals makes one reload after the one that runs', async () => {
  let started = 0
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const log = { info: () => undefined, error: () => undefined }
  const part = {
    name: 'slow',
    reload: async () => {
      started += 1
      await gate
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
