// Nothing but the move itself brings an end of a move to be served: neither `after-restore`, whenever the move began, nor a node.

import { expect, test } from 'bun:test'
import { visitFrom } from '../../../../src/domain/audit.ts'
import { openAfterRestore } from '../../../../src/store/opening/after-restore.ts'
import type { PostgresDatabase } from '../../../../src/store/postgres/engine/database.ts'
import { createDatabase } from '../../../../src/store/postgres/engine/database.ts'
import { writeMovedAway, writeMoveState } from '../../../../src/store/postgres/moving/move-row.ts'
import {
  expireEverything,
  haltWhileRestoring,
  resumeNodes,
} from '../../../../src/store/postgres/restoring/after-restore.ts'
import { storePush } from '../../../support/store.ts'
import { useNodes } from '../../../support/use-nodes.ts'
import { usePostgres } from '../../../support/use-postgres.ts'

const postgres = usePostgres()
const nodes = useNodes(postgres)
const visit = visitFrom({ ip: '', userAgent: 'test', referrer: '' })
const onProgress = () => undefined

const moving = { id: 'm1', source: '/srv/oncebox', sourceMark: '' }
const ENDS = [
  {
    end: 'left',
    write: ({ transact }: PostgresDatabase) =>
      transact(({ query }) => writeMovedAway(query, { id: 'm1', to: '/srv/new', at: 0, isSettled: false })),
    refusal: 'was moved to /srv/new',
  },
  {
    end: 'left, and its target confirmed',
    write: ({ transact }: PostgresDatabase) =>
      transact(({ query }) => writeMovedAway(query, { id: 'm1', to: '/srv/new', at: 0, isSettled: true })),
    refusal: 'was moved to /srv/new',
  },
  {
    end: 'half copied',
    write: ({ transact }: PostgresDatabase) =>
      transact(({ query }) => writeMoveState(query, { ...moving, state: 'copying' })),
    refusal: 'A move from /srv/oncebox into this database is not complete',
  },
  {
    end: 'copied and not confirmed',
    write: ({ transact }: PostgresDatabase) =>
      transact(({ query }) => writeMoveState(query, { ...moving, state: 'copied' })),
    refusal: 'A move from /srv/oncebox into this database is not confirmed',
  },
]

postgres.describe('a database', () => {
  test.each(ENDS)('$end while after-restore looked for other nodes stays as it is', async (row) => {
    const node = nodes.makeNode()
    const store = await node.open()
    await storePush({ store, clock: nodes.clock })
    await store.close()
    const { connect } = nodes.database
    const restoring = await openAfterRestore({
      ...{ connect, dataDir: node.dataDir, bucket: null, onWarning: () => undefined },
      writtenEvery: { bucket: 0, folder: 0 },
    })
    const database = createDatabase({ connect, connections: 1 })
    await row.write(database)
    const steps = [
      () => restoring.run({ visit, onProgress }),
      () => haltWhileRestoring(database),
      () => expireEverything(database, { now: 0, visit, onProgress }),
      () => resumeNodes(database, []),
    ]
    for (const step of steps) await expect(step()).rejects.toThrow(row.refusal)
    expect(await nodes.query('SELECT halted FROM instance')).toEqual([
      { halted: expect.stringContaining(row.refusal) },
    ])
    expect(await nodes.query('SELECT id FROM pushes WHERE expired_on IS NOT NULL')).toEqual([])
    // As a command of an older version, or a hand, may have left it.
    await nodes.query('UPDATE instance SET halted = NULL')
    await expect(node.open()).rejects.toThrow(row.refusal)
    await restoring.close()
    await database.close()
  })
})
