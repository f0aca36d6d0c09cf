// Nodes on one PostgreSQL database with one bucket, for the tests of one file.

import { afterAll, afterEach, beforeAll, beforeEach } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { OpenedStore } from '../../src/store/opening/opened-store.ts'
import { openTestBucket, type TestBucket } from './bucket.ts'
import { createTestClock, type TestClock } from './instance.ts'
import type { TestDatabase } from './postgres.ts'
import { makeNodeFolder, openTestNode, type TestNodeOptions } from './postgres-store.ts'
import type { UsedPostgres } from './use-postgres.ts'

/** State of the running test, created anew for each. */
type OfTest = {
  database: TestDatabase
  clock: TestClock
  folders: ReturnType<typeof makeNodeFolder>[]
  serving: Set<OpenedStore>
}

export type TestNode = ReturnType<ReturnType<typeof useNodes>['makeNode']>

export function useNodes(postgres: Pick<UsedPostgres, 'isInstalled' | 'newEmptyDatabase'>) {
  let bucket: TestBucket | undefined
  let test: OfTest | undefined
  beforeAll(async () => {
    bucket = await openTestBucket()
  })
  beforeEach(async () => {
    if (!postgres.isInstalled) return
    for (const { remove } of test?.folders ?? []) remove()
    const database = await postgres.newEmptyDatabase()
    test = { database, clock: createTestClock(), folders: [], serving: new Set() }
  })
  // Close them: nodes of a failed test would keep running in folders that were removed.
  afterEach(async () => {
    for (const store of test?.serving ?? []) await store.close()
  })
  afterAll(() => bucket?.close())

  function running(): OfTest & { bucket: TestBucket } {
    if (test === undefined || bucket === undefined) throw new Error('nodes run only within tests')
    return { ...test, bucket }
  }

  /** Makes a node with its own folder and the key of the first node. */
  function makeNode() {
    const { bucket, database, clock, folders, serving } = running()
    const folder = makeNodeFolder()
    const keyFile = join(folder.dataDir, '..', 'instance.key')
    const [first] = folders
    if (first !== undefined) writeFileSync(keyFile, readFileSync(join(first.dataDir, '..', 'instance.key')))
    folders.push(folder)
    const warnings: string[] = []
    const onWarning = (text: string) => warnings.push(text)
    const open = async (options: TestNodeOptions = {}) => {
      const store = await openTestNode({
        bucket: bucket.settings,
        ...{ dataDir: folder.dataDir, connect: database.connect, clock, onWarning, beatMs: 200 },
        ...options,
      })
      serving.add(store)
      const close = async () => {
        serving.delete(store)
        await store.close()
      }
      return { ...store, close }
    }
    return { ...folder, keyFile, warnings, open, note: join(folder.dataDir, 'serve.node') }
  }

  async function query<Row>(text: string): Promise<Row[]> {
    const sql = running().database.connect(1)
    try {
      return await sql.unsafe(text)
    } finally {
      await sql.close({ timeout: 0 })
    }
  }

  const cutConnections = () =>
    query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()',
    )

  return {
    makeNode,
    query,
    cutConnections,
    get bucket() {
      return running().bucket
    },
    get database() {
      return running().database
    },
    get clock() {
      return running().clock
    },
  }
}
