// Opens the store of a node whose rows are in PostgreSQL, in this order: folder, key, tables, instance,
// clock, heartbeats, files, operations.

import { type Doubt, explainDoubt } from '../../domain/clock.ts'
import { HOUR, type Now } from '../../domain/time.ts'
import { giveUpAbandoned, openFiles } from '../files/open-files.ts'
import { type DataFolder, dataFolder, prepareNodeFolder } from '../folder/data-folder.ts'
import { createFreeSpace, findWriteProblem } from '../folder/disk-space.ts'
import { lockFolder } from '../folder/folder-lock.ts'
import { findKeyProblem, removeLeftKeys } from '../folder/key-file.ts'
import { createNodeNoteFile } from '../folder/notes.ts'
import { type Keys, writeClockMark } from '../instance.ts'
import { createBell } from '../notices/outbox.ts'
import { createOperations } from '../operations.ts'
import {
  createDatabase,
  type OnState,
  type PostgresDatabase,
  type PostgresTransaction,
} from '../postgres/engine/database.ts'
import { createQuickLook } from '../postgres/engine/quick-look.ts'
import { createAlone, createSteps, drive } from '../postgres/engine/run-steps.ts'
import type { Connect, PostgresSession } from '../postgres/engine/session.ts'
import { createDatabaseClock, type DatabaseClock } from '../postgres/instance/clock.ts'
import {
  enterInstance,
  LIVE_NODES,
  listOthers,
  readNodeKeys,
  refuseBesideNodes,
} from '../postgres/instance/instance.ts'
import { createNode, type Node, type NodeLabel } from '../postgres/instance/node.ts'
import { migrate } from '../postgres/migrate.ts'
import { setBackDates } from '../pushes/doubted-dates.ts'
import { createImports } from '../pushes/imports.ts'
import type { Effect } from '../steps.ts'
import type { CommonStoreOptions, OpenedStore } from './opened-store.ts'

export type PostgresStoreOptions = CommonStoreOptions & {
  /** The path of the instance key, which all nodes share. */
  keyFile: string
  connect: Connect
  /** The maximum number of connections. */
  connections?: number
  outage?: OutageWatch
  label: NodeLabel
  clock: {
    /** Replaces the database's clock; null uses it. */
    systemNow: Now | null
  }
  /** Set by an operator who confirms that the database was moved, not restored. */
  acceptDatabase?: boolean
  /** Milliseconds between heartbeats, for tests. */
  beatMs?: number | undefined
}

/** Receives the failures of connections and heartbeats, and logs outages. */
export type OutageWatch = {
  onState: OnState
  /** Called after each heartbeat: with null, or with the error that prevented it. */
  onBeat: (cause: unknown) => void
  /** Returns why the server refuses connections to this node, in whole sentences; null if it does not. */
  explainLoss: () => string | null
  /** Whether a present outage has been logged. */
  isOn: () => boolean
}

/**
 * Makes a missing folder, key and tables, and migrates. Throws `conflict` when the database may not be
 * served.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<OpenedStore> {
  const folder = dataFolder(options.dataDir)
  prepareNodeFolder(folder, options.keyFile)
  const lock = await lockFolder(folder, { onWarning: options.onWarning })
  try {
    const opened = await openDatabase(options, folder)
    return { ...opened, close: () => opened.close().finally(lock.release) }
  } catch (cause) {
    lock.release()
    throw cause
  }
}

async function openDatabase(options: PostgresStoreOptions, folder: DataFolder) {
  const { connect, connections, keyFile, onWarning, outage, label, beatMs, acceptDatabase = false } = options
  const { read: readNote, write: save } = createNodeNoteFile(folder.path)
  const note = await readNote()
  const keyring = await readNodeKeys({ connect, keyFile, isNewFolder: note === null })
  const keys = { keyring, keyFile }
  await migrate({ connect })
  let node: Node | undefined
  const database = createDatabase({
    ...{ connect, connections, onState: outage?.onState },
    onFull: () => onWarning(FULL),
    onConnect: async (session) => node?.look(session),
  })
  try {
    const state = await enterInstance(database, { keys, note, acceptDatabase })
    const left = removeLeftKeys(folder, keyFile)
    if (left !== null) onWarning(left)
    const clock = createDatabaseClock({ ...options.clock, first: state, onChange: tellDoubt(onWarning) })
    node = createNode({
      ...{ state, note, save, clock, label, beatMs },
      onChange: (problem) => onWarning(problem ?? 'The database is served again.'),
      onBeat: outage?.onBeat ?? (() => undefined),
    })
    return await serveNode(options, { database, node, clock, keys, folder })
  } catch (cause) {
    await database.close()
    throw cause
  }
}

const FULL =
  'The disk of the database server is full: what needs room there, such as new pushes, is refused (507) until it has some. Make room, or ' +
  'give it a larger disk; remove nothing from pg_wal by hand.'

const tellDoubt = (onWarning: (warning: string) => void) => (doubt: Doubt | null) =>
  onWarning(
    doubt === null
      ? 'The clock of the database server is trusted again.'
      : explainDoubt(doubt, 'the database server'),
  )

type NodeParts = {
  folder: DataFolder
  keys: Keys
  database: PostgresDatabase
  node: Node
  clock: DatabaseClock
}

/** How many setup links stay valid at once: each starting node makes one and prints it. */
const SETUP_LINKS = 10
/** The timeout of an import of any size. */
const IMPORT_MS = 12 * HOUR
/** The number of waiting changes above which new requests are refused. */
const MANY_WAITING = 5000

/** Runs the heartbeats of the node, its files, and the operations. */
async function serveNode(options: PostgresStoreOptions, serving: NodeParts): Promise<OpenedStore> {
  const { database, node, clock, folder, keys } = serving
  const { keyring, keyFile } = keys
  const { now, trusted } = clock
  const { onError, outage, label } = options
  const guarded = node.guard(database)
  const accepted = { mark: clock.now(), doubted: null }
  if (options.clock.accept) await database.transact((session) => drive(writeClockMark(accepted), session))
  const beats = node.start({
    database,
    clearUp: (session) => clearUp(session, now()),
    onDurable: createMending(guarded, clock),
  })
  await beats.beat()
  const { ring, whenQueued } = createBell()
  const onEffect = (effect: Effect) => {
    if (effect === 'due') files.removeDue()
    else if (effect === 'queued') ring()
  }
  const steps = createSteps({ ...guarded, onEffect })
  const address = `${folder.files} on the disk of the node ${label.name}`
  const findOther = async () => (await database.read((session) => listOthers(session, node.id)))[0] ?? null
  // If the start fails, leave again. Otherwise the others would treat this node as alive.
  const leave = () => beats.leave().catch(() => undefined)
  const place = { path: folder.files, address, findOther }
  const files = await openFiles({ ...options, ...place, steps, node: node.id, now }).catch((cause) =>
    leave().then(() => Promise.reject(cause)),
  )
  // Check no disk: that of the rows belongs to the database server.
  const hasRoom = () => true
  const { glance } = steps
  const parts = {
    ...{ steps, glance, now, trusted, keyring, node: node.id },
    ...{ hasRoom, onError, setupLinks: SETUP_LINKS },
  }
  // Refuse if there is another node, which may also be another import.
  const enter = (session: PostgresSession) => refuseBesideNodes(session, node.id)
  const alone = createAlone({ ...guarded, enter, within: IMPORT_MS })
  const waitingChanges = () => database.count().connections.waiting
  const look = createQuickLook(database.read)
  const floor = options.bucket === null ? options.minFreeSpace : 0

  async function close(): Promise<void> {
    await files.close()
    await leave()
    await database.close()
  }

  return {
    ...createOperations(parts),
    imports: createImports({ steps, now, alone }),
    ...{ files: files.store, bucket: files.bucket, keyring, now, waitingChanges, close },
    ...{ whenQueued, jobs: [beats.job] },
    freeSpace: createFreeSpace({ path: folder.path, floor, isFull: () => false }),
    findWriteProblem: () => findWriteProblem([folder.path]),
    findKeyProblem: () => findKeyProblem(keyFile, keyring),
    database: {
      ...{ look, count: database.count, isFull: database.isFull },
      ...{ sinceHeartbeat: beats.sinceHeartbeat, listNodes: beats.list, findRefusal: node.problem },
      explainLoss: outage?.explainLoss ?? (() => null),
      isOut: () => outage?.isOn() || node.problem() !== null || database.isFull(),
    },
    isAlive: async () => (await look()) !== null,
    clock: {
      trusted,
      doubt: clock.doubt,
      accept: () => {
        clock.accept()
        return beats.beat()
      },
    },
    isOverloaded: () => waitingChanges() > MANY_WAITING,
    commitOverdue: () => undefined,
    confirmStart: () => undefined,
  }
}

/** Finishes, within a transaction, the unfinished work of dead nodes. */
async function clearUp(session: PostgresTransaction, now: number): Promise<void> {
  const alive = new Set((await session.query<{ id: Uint8Array }>(LIVE_NODES)).map(({ id }) => id.toHex()))
  await drive(
    giveUpAbandoned((node) => alive.has(node.toHex()), now),
    session,
  )
}

/** Corrects the dates of pushes that were made while the clock was ahead, once after each doubt. */
function createMending(database: Pick<PostgresDatabase, 'read' | 'transact'>, clock: DatabaseClock) {
  const steps = createSteps({ ...database, onEffect: () => undefined })
  let mended = 0
  return async (): Promise<void> => {
    const ahead = clock.wasAhead()
    if (ahead === mended || clock.doubt() !== null) return
    await setBackDates(steps, clock)
    mended = ahead
  }
}
