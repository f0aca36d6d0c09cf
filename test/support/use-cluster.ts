// One PostgreSQL server for the tests of a file, which may stop, start and reconfigure it.

import { afterAll, beforeAll } from 'bun:test'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { type DatabaseAddress, parseDatabaseAddress } from '../../src/domain/database-address.ts'
import { createDatabase, type PostgresDatabase } from '../../src/store/postgres/engine/database.ts'
import type { Connect } from '../../src/store/postgres/engine/session.ts'
import { migrate } from '../../src/store/postgres/migrate.ts'
import { connectTo } from '../../src/store/postgres/reaching/address.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { type Needing, needs } from './needs.ts'

const MEMORY = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
const START_MS = 300_000

/**
 * Starts a server with the tables of Oncebox and a table `notes (n int PRIMARY KEY)` before the tests of this
 * file, and removes it after them. `cluster()` is for use within tests. What `describe` describes is skipped
 * where PostgreSQL is not installed.
 */
export function useCluster(): { cluster: () => Cluster; describe: Needing['describe'] } {
  const { isMet: isInstalled, describe } = needs('postgres')
  let started: Cluster | undefined
  beforeAll(async () => {
    if (!isInstalled) return
    started = await startCluster({ isDurable: true, parent: MEMORY })
    await migrate({ connect: connectBy(started.address()) })
    const database = openDatabase(started.address())
    await database.transact(({ query }) => query('CREATE TABLE notes (n int PRIMARY KEY)'))
    await database.close()
  }, START_MS)
  afterAll(() => started?.remove())

  function cluster(): Cluster {
    if (started === undefined) throw new Error('PostgreSQL runs only within tests')
    return started
  }

  return { cluster, describe }
}

export function addressOf(text: string): DatabaseAddress {
  const address = parseDatabaseAddress(text)
  if (address === null || 'problem' in address) throw new Error(`no address: ${text}`)
  return address
}

export const connectBy = (address: string): Connect => connectTo(addressOf(address))

/** `told` receives why the server cannot be used, and null when it can be used again. */
export function openDatabase(address: string, told: unknown[] = []): PostgresDatabase {
  return createDatabase({ connect: connectBy(address), onState: (state) => told.push(state) })
}

/** `within`: milliseconds. */
export function addNote({ transact }: PostgresDatabase, n: number, within = 7_000): Promise<unknown[]> {
  return transact(({ query }) => query('INSERT INTO notes VALUES ($1)', [n]), { within })
}

export async function countNotes(on: Cluster): Promise<number> {
  const [row] = await on.run<{ count: number }>('SELECT count(*)::int AS count FROM oncebox.notes')
  return row?.count ?? -1
}
