// The database as a node may use it.

import { expect, test } from 'bun:test'
import type { PostgresDatabase, WorkOptions } from '../../../../src/store/postgres/engine/database.ts'
import { createStanding } from '../../../../src/store/postgres/instance/standing.ts'

test('every kind of work keeps the time within which it has to be done', async () => {
  const state = {
    ...{
      time: 0,
      beats: 1,
      restoredAt: 0,
      isLasting: true,
      halted: null,
      place: null,
      here: 'here',
      standbyNames: '',
      tag: 'tag',
      operations: [],
    },
    ...{ clockMark: 0, clockDoubted: null, version: 1, compatibleFrom: 1 },
  }
  const standing = createStanding({
    state,
    findLater: () => null,
    observe: () => undefined,
    elapsed: () => 0,
    onChange: () => undefined,
  })
  const given: (WorkOptions | undefined)[] = []
  const keep = (options: WorkOptions | undefined) => {
    given.push(options)
    return Promise.reject(new Error('asked'))
  }
  const database: Pick<PostgresDatabase, 'read' | 'transact'> = {
    read: (_, options) => keep(options),
    transact: (_, options) => keep(options),
  }
  const { read, transact } = standing.guard(database)
  await Promise.allSettled([read(async () => 1, { within: 1 }), transact(async () => 1, { within: 2 })])
  expect(given).toEqual([{ within: 1 }, { within: 2 }])
})
