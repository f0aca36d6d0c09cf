// Events are read before they are durable, but delivered only afterwards, because a power cut could undo
// them.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { createEventLog } from '../../../src/store/notices/event-log.ts'
import { migrate } from '../../../src/store/sqlite/migrate.ts'
import { createDrive, createSteps } from '../../../src/store/sqlite/run-steps.ts'
import { START } from '../../support/instance.ts'

test('an event is read only once it is durable; an empty answer does not wait', async () => {
  const database = new Database(':memory:')
  migrate(database)
  database.run(`INSERT INTO accounts (email, password_hash, is_admin, created_at, last_sign_in_at)
    VALUES ('ann@example.org', 'x', 1, 0, 0)`)
  const disk = Promise.withResolvers<void>()
  const transact = async <T>(work: () => T) => work()
  const settled = () => disk.promise
  const steps = createSteps({ drive: createDrive(database), transact, onEffect: () => undefined, settled })
  const events = createEventLog({ steps, now: () => START, trusted: () => START })
  expect(await events.listEvents({ accountId: 1, after: 0 })).toEqual({ first: 0, last: 0, events: [] })
  await events.tellAdmins({ type: 'backup.failed', data: {} })
  let isTold = false
  const listed = events.listEvents({ accountId: 1, after: 0 }).finally(() => {
    isTold = true
  })
  expect(await events.listEvents({ accountId: 1, after: 1 })).toMatchObject({ last: 1, events: [] })
  expect(isTold).toBe(false)
  disk.resolve()
  expect((await listed).events).toMatchObject([{ n: 1, type: 'backup.failed', at: START }])
  database.close()
})
