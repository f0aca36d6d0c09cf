// Opens the store of one node whose rows PostgreSQL keeps, in this order: folder, key, tables, instance, clock, operations.

import { type Doubt, explainDoubt } from '../../domain/clock.ts'
import { type DataFolder, dataFolder, prepareNodeFolder } from '../folder/data-folder.ts'
import { lockFolder } from '../folder/folder-lock.ts'
import { createNodeNoteFile } from '../folder/notes.ts'
import { createDatabase } from '../postgres/engine/database.ts'
import { createDatabaseClock } from '../postgres/instance/clock.ts'
import { enterInstance } from '../postgres/instance/instance.ts'
import { readNodeKeys } from '../postgres/instance/keys.ts'
import { createNode, type Node } from '../postgres/instance/node.ts'
import { migrate } from '../postgres/schema/migrate.ts'
import type { OpenedStore } from './opened-store.ts'
import { type PostgresStoreOptions, serveNode } from './postgres-node.ts'

/** Makes a missing folder, key and tables, and migrates. Throws `conflict` when the database may not be served. */
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
  await migrate({ connect })
  let node: Node | undefined
  const database = createDatabase({
    ...{ connect, connections, onState: outage?.onState },
    onFull: () => onWarning(FULL),
    onConnect: async (session) => node?.look(session),
  })
  try {
    const state = await enterInstance(database, { keyring, keyFile, note, acceptDatabase })
    const clock = createDatabaseClock({ ...options.clock, first: state, onChange: tellDoubt(onWarning) })
    node = createNode({
      ...{ state, note, save, clock, label, beatMs },
      onChange: (problem) => onWarning(problem ?? 'The database is served again.'),
      onBeat: outage?.onBeat ?? (() => undefined),
    })
    return await serveNode(options, { database, node, clock, keyring, folder })
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
