// A store over a PostgreSQL database of its own, with the clock of a test in place of the database's.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newKeyFile } from '../../src/crypto/keyring.ts'
import { isDomainError } from '../../src/domain/errors.ts'
import { createJobs } from '../../src/operating/jobs.ts'
import type { OpenedStore } from '../../src/store/opening/opened-store.ts'
import { openPostgresStore, type PostgresStoreOptions } from '../../src/store/opening/postgres-store.ts'
import { unavailable } from '../../src/store/postgres/engine/failures.ts'
import type { NodeLabel } from '../../src/store/postgres/instance/node.ts'
import { createTestClock, type TestClock } from './instance.ts'
import type { TestDatabase } from './postgres.ts'
import { patient } from './waiting.ts'

/** The log message of a job whose database answers late on a busy machine; the job tries again. */
const LATE = unavailable(null).message

export type TestNodeOptions = Partial<Omit<PostgresStoreOptions, 'label' | 'clock'>> &
  Partial<NodeLabel> & {
    /** Replaces the clock of the test. */
    systemNow?: PostgresStoreOptions['clock']['systemNow']
    uptime?: PostgresStoreOptions['clock']['uptime']
    acceptClock?: boolean
  }

type TestNode = Pick<PostgresStoreOptions, 'dataDir' | 'connect'> & { clock: TestClock }

/** Opens a node's store, and starts its jobs. The key file lies beside the data folder. */
export async function openTestNode(options: TestNodeOptions & TestNode): Promise<OpenedStore> {
  const { clock, systemNow = clock.now, uptime = clock.uptime, acceptClock = false, ...given } = options
  const { name = 'test', version = '0.0.0', beatMs, ...others } = given
  const fail = (cause: unknown) => {
    // A database on a busy machine may answer late: a node says so, and tries again.
    if (!isDomainError(cause, 'overloaded')) throw cause
  }
  const opened = await openPostgresStore({
    keyFile: join(options.dataDir, '..', 'instance.key'),
    label: { name, version },
    clock: { systemNow, uptime, accept: acceptClock, maxGap: 7 * 24 * 60 * 60 * 1000 },
    beatMs,
    bucket: null,
    minFreeSpace: 0,
    onWarning: () => undefined,
    onError: fail,
    ...others,
  })
  const log = {
    error: (fields: object, message: string) => {
      // Jobs fail for as long as the node refuses to serve, and while the database answers late.
      if ((opened.database?.findRefusal() ?? null) === null && !message.includes(LATE))
        fail('err' in fields ? fields.err : new Error(message))
    },
  }
  const jobs = createJobs({ jobs: opened.jobs, now: opened.now, log })
  await jobs.start()
  const close = async () => {
    await jobs.stop()
    await opened.close()
  }
  return { ...opened, close }
}

/** A folder for the data of a node, with the key file of the instance beside it. */
export function makeNodeFolder(): { dataDir: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'oncebox-node-'))
  writeFileSync(join(folder, 'instance.key'), newKeyFile(), { mode: 0o600 })
  return { dataDir: join(folder, 'data'), remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** A node with a folder and a clock of its own. */
export async function openPostgresEngine(
  database: TestDatabase,
  options: TestNodeOptions & { clock?: TestClock } = {},
) {
  const { dataDir, remove } = makeNodeFolder()
  const clock = options.clock ?? createTestClock()
  const open = async () =>
    patient(await openTestNode({ ...options, dataDir, connect: database.connect, clock }))
  let store = await open()
  return {
    get store() {
      return store
    },
    clock,
    reopen: async () => {
      await store.close()
      store = await open()
    },
    close: async () => {
      await store.close()
      await database.close()
      remove()
    },
  }
}
