// Opens the store of one node whose rows PostgreSQL keeps, in this order: folder, key, tables, instance, clock, operations.

import { type Doubt, explainDoubt } from '../../domain/clock.ts'
import { formatLength } from '../../domain/time.ts'
import { type DataFolder, dataFolder } from '../folder/data-folder.ts'
import { createFolderChecks } from '../folder/folder-checks.ts'
import { lockFolder } from '../folder/folder-lock.ts'
import { createFreeSpace } from '../folder/free-space.ts'
import { prepareNodeFolder } from '../folder/node-folder.ts'
import { createDatabase } from '../postgres/engine/database.ts'
import { createRightsWatch } from '../postgres/engine/rights.ts'
import { requireServer } from '../postgres/engine/server-check.ts'
import { createDatabaseClock, type DatabaseClock } from '../postgres/instance/clock.ts'
import { enterInstance } from '../postgres/instance/entering.ts'
import type { InstanceState } from '../postgres/instance/instance.ts'
import { readNodeKeys } from '../postgres/instance/key-file.ts'
import { createStanding, type Standing } from '../postgres/instance/standing.ts'
import { migrate } from '../postgres/schema/migrate.ts'
import { createFolderWitness, type FolderWitness } from '../witness/folder-witness.ts'
import { createWitnesses, type Witnesses } from '../witness/witnesses.ts'
import type { OpenedStore } from './opened-store.ts'
import { openNode } from './postgres-node.ts'
import type { PostgresStoreOptions } from './postgres-options.ts'

/** Makes a missing folder, key and tables, and migrates. Throws `conflict` when the database may not be served. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<OpenedStore> {
  const folder = dataFolder(options.dataDir)
  const witness = createFolderWitness(options.dataDir)
  prepareNodeFolder(folder, { keyFile: options.keyFile, witness: witness.path })
  const onWait = (holder: string) =>
    options.onWarning(`${folder.path} is in use: waiting for ${holder} to end`)
  const lock = await lockFolder(folder, { onWait })
  try {
    const opened = await openDatabase(options, { folder, witness })
    lock.opened()
    const close = () => opened.close().finally(lock.release)
    return { ...opened, close }
  } catch (cause) {
    lock.release()
    throw cause
  }
}

type Place = { folder: DataFolder; witness: FolderWitness }

async function openDatabase(options: PostgresStoreOptions, { folder, witness }: Place) {
  const { connect, keyFile, onWarning, bucket } = options
  await requireServer(connect, onWarning)
  const saved = await witness.read()
  const keyring = await readNodeKeys({ connect, keyFile, isNewFolder: saved === null })
  const watched = bucket === null ? null : { bucket, keyring, onWarning }
  const witnesses = createWitnesses(witness, watched, options.pace?.bucketMs)
  await migrate({ connect, onWarning })
  const { database, rights, watch } = openWatched(options)
  try {
    const state = await enterInstance(database, {
      ...{ keyring, keyFile, onWarning, inFolder: saved, witnessPath: witness.path },
      patience: options.pace?.patience,
      readOthers: witnesses.readBucket,
      hasOtherServers: connect.servers !== undefined,
    })
    const clock = openClock(options, state)
    const standing = openStanding(options, { state, clock, witnesses })
    watch(standing)
    const parts = { database, standing, rights, clock, witnesses, keyring, path: folder.files }
    return { keyring, ...(await openNode(options, parts)), ...checksOf(options, { folder, keyring }) }
  } catch (cause) {
    await database.close()
    throw cause
  }
}

/** The database, and what looks at each new connection: the rights of its user, and the standing that `watch` is given. */
function openWatched({ connect, connections, outage, onWarning }: PostgresStoreOptions) {
  let standing: Standing | undefined
  const rights = createRightsWatch((lack) =>
    onWarning(lack ?? 'The user of --database-url has all rights again.'),
  )
  const database = createDatabase({
    connect,
    connections,
    onState: outage?.onState,
    onWarning,
    onFull: () => onWarning(FULL),
    onRoom: (fullFor) => onWarning(`${ROOM} ${formatLength(fullFor)}.`),
    onConnect: async (session, how) => {
      await standing?.look(session, how)
      await rights.look(session)
    },
    onAcknowledged: (id) => standing?.remember(id),
  })
  const watch = (given: Standing) => {
    standing = given
  }
  return { database, rights, watch }
}

const FULL =
  'The disk of the database server is full: what needs room there, such as new pushes, is refused (507) until it has some. Make room, or ' +
  'give it a larger disk; remove nothing from pg_wal by hand.'

const ROOM = 'The disk of the database server has had room for five minutes. Before, it was full for'

function openClock({ clock, onWarning }: PostgresStoreOptions, first: InstanceState): DatabaseClock {
  const onChange = (doubt: Doubt | null) =>
    onWarning(
      doubt === null
        ? 'The clock of the database server is trusted again.'
        : explainDoubt(doubt, 'the database server'),
    )
  return createDatabaseClock({ ...clock, first, onChange })
}

function openStanding(
  { onWarning, clock: { uptime } }: PostgresStoreOptions,
  { state, clock, witnesses }: { state: InstanceState; clock: DatabaseClock; witnesses: Witnesses },
) {
  let since = 0
  const onChange = (problem: string | null, wasServing: boolean) => {
    if (wasServing) since = performance.now()
    onWarning(problem ?? `The database is served again, after ${formatLength(performance.now() - since)}.`)
  }
  return createStanding({
    ...{ state, observe: clock.observe, elapsed: uptime, onChange },
    findLater: witnesses.findLater,
  })
}

type Checked = { folder: DataFolder; keyring: Parameters<typeof createFolderChecks>[0]['keyring'] }

function checksOf({ keyFile, bucket, minFreeSpace }: PostgresStoreOptions, { folder, keyring }: Checked) {
  const floor = bucket === null ? minFreeSpace : 0
  return {
    freeSpace: createFreeSpace({ path: folder.path, floor, isFull: () => false }),
    ...createFolderChecks({ written: [folder.path], keyFile, keyring }),
  }
}
