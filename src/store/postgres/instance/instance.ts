// The row of the instance, the rows of its nodes, and whether a node that starts may serve the database.

import { existsSync } from 'node:fs'
import type { Keyring } from '../../../crypto/keyring.ts'
import { conflict } from '../../../domain/errors.ts'
import { HOUR, MINUTE } from '../../../domain/time.ts'
import type { NodeReport } from '../../database-contract.ts'
import { makeKeyFile, readKeyFile } from '../../folder/key-file.ts'
import type { NodeNote } from '../../folder/notes.ts'
import { enterKeys, explainCopy, type Keys, listKnownKeys, nameKeys } from '../../instance.ts'
import type { PostgresDatabase } from '../engine/database.ts'
import { serverText } from '../engine/failures.ts'
import { drive } from '../engine/run-steps.ts'
import { type Connect, onOwnConnection, type PostgresSession, sessionOver } from '../engine/session.ts'
import { readSchemaVersion, type SchemaVersion } from '../migrate.ts'
import type { DatabaseTime } from './clock.ts'

/** The row of the instance, with facts about the server. */
export type InstanceState = DatabaseTime &
  SchemaVersion & {
    /** The target of `oncebox copy`; null for an instance that was not copied. */
    copiedTo: string | null
    tag: string
    /** When `expire-all` last ran, in milliseconds since 1970; 0 for never. */
    expiredAllAt: number
    /** The cluster and database that served it last; null if it was never served. */
    place: string | null
    /** The cluster and database where it is now. */
    here: string
    /** The mark in the asking node's row; null without a row. */
    mark: string | null
  }

/** The server's clock in whole milliseconds since 1970. */
export const DATABASE_TIME = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::float8'

const HERE = `(SELECT system_identifier FROM pg_control_system())
  || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())`

/**
 * Older nodes run this statement too, before they know whether they may use the tables: keep these columns in
 * every later schema.
 */
const LOOK = `SELECT tag::text AS tag, expired_all_at AS "expiredAllAt", place, ${HERE} AS here,
    CASE WHEN copy_state = 'left' THEN copy_other END AS "copiedTo", clock_mark AS "clockMark", clock_doubted AS "clockDoubted", ${DATABASE_TIME} AS time,
    (SELECT max(version) FROM schema_versions) AS version,
    (SELECT max(compatible_from) FROM schema_versions) AS "compatibleFrom",
    (SELECT mark FROM nodes WHERE nodes.id = $1) AS mark
  FROM instance`

/**
 * Reads the row of the instance. `lock`: no other node changes it until the transaction ends. `node`: the id
 * of the calling node.
 */
export async function readInstance(
  { query }: PostgresSession,
  { lock = false, node = null }: { lock?: boolean; node?: Uint8Array | null } = {},
): Promise<InstanceState> {
  // Lock in a separate statement: LOOK, if it had to wait for the lock itself, would read the rows of nodes
  // from before the wait.
  if (lock) await query('SELECT FROM instance FOR UPDATE')
  const [state] = await query<InstanceState>(LOOK, [node])
  if (state === undefined) throw new Error('the table instance of the database is empty')
  return state
}

/** The time without a heartbeat after which a node counts as dead. */
const DEAD_MS = MINUTE
/** How long a dead node is listed for operators. */
const SHOWN_MS = HOUR

/** The ids of the nodes that are alive, as a subquery. */
export const LIVE_NODES = `SELECT id FROM nodes WHERE seen_at > ${DATABASE_TIME} - ${DEAD_MS}`

/** Lists nodes that serve, or have served recently. `thisNode`: the id of this node; null for a command. */
export async function listNodes(
  { query }: PostgresSession,
  thisNode: Uint8Array | null,
): Promise<NodeReport[]> {
  const nodes = await query<NodeReport>(LIST, [thisNode])
  return nodes.map(({ name, version, ...rest }) => ({
    ...{ ...rest, name: serverText(name), version: serverText(version) },
  }))
}

const LIST = `SELECT name, version, started_at AS "startedAt", seen_at AS "seenAt",
    (id = $1::bytea) IS TRUE AS "isThis", id IN (${LIVE_NODES}) AS "isAlive"
  FROM nodes WHERE seen_at > ${DATABASE_TIME} - ${SHOWN_MS} ORDER BY started_at, id`

/** The names of the other nodes that are alive. */
export async function listOthers(session: PostgresSession, node: Uint8Array | null): Promise<string[]> {
  const nodes = await listNodes(session, node)
  return nodes.flatMap(({ name, isThis, isAlive }) => (isAlive && !isThis ? name : []))
}

/** Throws `conflict`, naming them, if other nodes than this one serve the database. */
export async function refuseBesideNodes(
  session: PostgresSession,
  thisNode: Uint8Array | null,
): Promise<void> {
  const alive = await listOthers(session, thisNode)
  if (alive.length === 0) return
  throw conflict(
    `Nodes serve the database (${alive.join(', ')}), or did within the last minute. Nothing was changed. ` +
      'Stop all of them, wait for a minute where one was killed or the copy is that young, and run this again.',
  )
}

/**
 * Throws `conflict` while nodes serve the database. Prevents new ones from starting until the transaction
 * ends.
 */
export async function requireAlone(session: PostgresSession): Promise<InstanceState> {
  const state = await readInstance(session, { lock: true })
  await refuseBesideNodes(session, null)
  return state
}

/** The timeout of joining: the search for rows sealed under a removed key reads all pushes. */
const ENTER_MS = 10 * MINUTE

type EnterOptions = {
  keys: Keys
  /** The note in the data folder; null when it was never served. */
  note: NodeNote | null
  /** Set by an operator who confirms that the database was moved, not restored. */
  acceptDatabase: boolean
}

/** Throws `conflict` when the database may not be served, or with another key. */
export function enterInstance(
  { transact }: Pick<PostgresDatabase, 'transact'>,
  { note, keys, acceptDatabase }: EnterOptions,
): Promise<InstanceState> {
  const node = note === null ? null : Buffer.from(note.node, 'hex')
  return transact(
    async (session) => {
      const state = await readInstance(session, { lock: true, node })
      const why = findRefusal(state, note, acceptDatabase)
      if (why !== null) throw conflict(why)
      await session.query('UPDATE instance SET place = $1', [state.here])
      const hasOthers = (await listOthers(session, node)).length > 0
      await drive(enterKeys(keys, { hasOthers }), session)
      return state
    },
    { within: ENTER_MS },
  )
}

/** Finds why a node with this note may not serve the database; null when it may. */
export function findRefusal(
  state: Pick<InstanceState, 'tag' | 'expiredAllAt' | 'place' | 'here' | 'mark' | 'copiedTo'>,
  note: NodeNote | null,
  acceptDatabase: boolean,
): string | null {
  if (note !== null && note.instance !== state.tag) return FOREIGN
  if (state.place !== null && state.place !== state.here && !acceptDatabase) return MOVED
  const copied = explainCopy(state.copiedTo)
  if (copied !== null) return copied
  // Ignore the marks if `expire-all` ran since the note was written: it made a rolled-back database
  // acceptable.
  if (note === null || state.expiredAllAt > note.expiredAllAt) return null
  return state.mark === note.last || state.mark === note.next ? null : SET_BACK
}

const FOREIGN =
  'This data folder served another database than the one of --database-url. Name the right database, or another folder with ' +
  '--data-dir.'

const MOVED =
  'The database of --database-url is not where it was served last: it is a restored copy, or was moved to another server or ' +
  'database. If it may lack anything that was read, expired or deleted since, stop all nodes and run "oncebox expire-all", which ' +
  'expires every push. If all nodes had stopped before it was moved, and the original is never served again, start once with ' +
  '--accept-database.'

export const SET_BACK =
  'The database does not know the last change of this node: it was set back to an earlier state, it is another one than before, or ' +
  'a copy of this data folder is served elsewhere. Nothing is served here. After a restore, what was read, expired or deleted ' +
  'since could be opened again: stop all nodes and run "oncebox expire-all", which expires every push. A copied folder needs a new ' +
  'one in its place (--data-dir).'

type NodeKeysOptions = {
  connect: Connect
  keyFile: string
  /** Whether the data folder never served a database. */
  isNewFolder: boolean
}

/**
 * Reads the key file. Creates one only for an empty database, because a new key cannot open data of another
 * key. Throws `conflict` if the file of a database with keys is missing, and if a database was emptied.
 */
export function readNodeKeys({ connect, keyFile, isNewFolder }: NodeKeysOptions): Promise<Keyring> {
  return onOwnConnection(connect, async (session) => {
    const { version } = await readSchemaVersion(session)
    if (version === 0 && !isNewFolder) throw conflict(EMPTIED)
    if (existsSync(keyFile)) return readKeyFile(keyFile)
    const known = version === 0 ? [] : await drive(listKnownKeys(), sessionOver(session))
    if (known.length === 0) return makeKeyFile(keyFile)
    throw conflict(
      `The key file ${keyFile} is missing, and the database was written with ${nameKeys(known)}. Copy the file from another node, or name ` +
        'it with --key-file. A new key would open nothing of it.',
    )
  })
}

const EMPTIED =
  'The database of --database-url holds no Oncebox data, though this data folder served one. Restore the database, name the ' +
  'right one, or begin anew with another folder (--data-dir).'
