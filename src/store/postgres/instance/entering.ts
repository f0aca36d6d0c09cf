// What a node looks at before it serves a database: whether it is the right one, whether it was set back, and the keys.

import { findKey, type Keyring } from '../../../crypto/keyring.ts'
import { DomainError, isDomainError } from '../../../domain/errors.ts'
import { MINUTE } from '../../../domain/time.ts'
import { explainCopy } from '../../copy/state.ts'
import type { NodeNote } from '../../folder/notes.ts'
import type { PostgresDatabase, Session } from '../engine/database.ts'
import { type InstanceState, readInstance } from './instance.ts'
import { readKeys, verifyKeys } from './instance-keys.ts'
import { listNodeKeys } from './node-keys.ts'
import { readMark } from './node-rows.ts'
import { SET_BACK } from './standing.ts'

/** Looking for what a removed key has sealed reads all pushes. */
const WITHIN_MS = 10 * MINUTE

export type EnterOptions = {
  keyring: Keyring
  keyFile: string
  /** Of the data folder; null when it was never served. */
  note: NodeNote | null
  /** The operator says that the database was moved, and not restored. */
  acceptDatabase: boolean
}

/** Throws `conflict` when the database may not be served, or with another key. */
export async function enterInstance(
  { read, transact }: Pick<PostgresDatabase, 'read' | 'transact'>,
  options: EnterOptions,
): Promise<InstanceState> {
  const known = await read(readKeys)
  const hasAllKeys = known.every(({ number }) => findKey(options.keyring, number) !== null)
  try {
    const within = hasAllKeys ? {} : { within: WITHIN_MS }
    return await transact((session) => enterWithin(session, options), within)
  } catch (cause) {
    throw isDomainError(cause, 'overloaded') ? new DomainError('conflict', COMMITS_NOTHING) : cause
  }
}

const COMMITS_NOTHING =
  'PostgreSQL answers, and commits nothing: see its log, whether its disk is full, whether a standby of ' +
  'synchronous_standby_names is missing (pg_stat_replication), and whether an "oncebox copy" is under way.'

async function enterWithin(session: Session, options: EnterOptions): Promise<InstanceState> {
  const { note, keyring, acceptDatabase } = options
  const state = await readInstance(session, { lock: true })
  const mark = note === null ? null : await readMark(session, note.node)
  const why = findRefusal(state, { note, mark, acceptDatabase })
  if (why !== null) throw new DomainError('conflict', why)
  await session.query('UPDATE instance SET place = $1', [state.here])
  const others = await listNodeKeys(session, note === null ? null : Buffer.from(note.node, 'hex'))
  await verifyKeys(session, keyring, { ...options, others })
  return state
}

type Entering = Pick<EnterOptions, 'note' | 'acceptDatabase'> & {
  /** Of the node's row; null without one. */
  mark: string | null
}

/** Why a node with this note may not serve the database; null when it may. */
export function findRefusal(
  state: Pick<InstanceState, 'tag' | 'expiredAllAt' | 'place' | 'here' | 'copy'>,
  { note, mark, acceptDatabase }: Entering,
): string | null {
  if (note !== null && note.instance !== state.tag) return FOREIGN
  if (state.place !== null && state.place !== state.here && !acceptDatabase) return MOVED
  const copied = explainCopy(state.copy)
  if (copied !== null) return copied
  // What the node remembers from before every push was expired does not count.
  if (note === null || state.expiredAllAt > note.expiredAllAt) return null
  return mark === note.last || mark === note.next ? null : SET_BACK
}

const FOREIGN =
  'This data folder served another database than the one of --database-url. Name the right database, or another folder with ' +
  '--data-dir.'

const MOVED =
  'The database of --database-url is not where it was served last: it is a restored copy, or was moved to another server or ' +
  'database. If it may lack anything that was read, expired or deleted since, stop all nodes and run "oncebox expire-all", which ' +
  'expires every push. If all nodes had stopped before it was moved, and the original is never served again, start once with ' +
  '--accept-database.'
