// What a PostgreSQL server says about itself, and what of that keeps Oncebox from trusting it: each problem with its remedy.

import { DomainError } from '../../../domain/errors.ts'
import { judgeStandbys, type Standbys } from '../../../domain/standbys.ts'
import type { Session } from './database.ts'
import { PERMISSION, stateOf } from './failures.ts'
import { FOLLOWERS, type FollowerRow, standbysOf } from './followers.ts'
import { explainUnlogged, UNLOGGED } from './unlogged.ts'

export type ServerFacts = {
  /** Such as `15.6`. */
  version: string
  versionNumber: number
  encoding: string
  isStandby: boolean
  isReadOnly: boolean
  fsync: boolean
  fullPageWrites: boolean
  dataChecksums: boolean
  /** What a crash would empty, for ALTER: tables and sequences. */
  unlogged: string[]
  /** Names the cluster and its copies. */
  systemIdentifier: string
  /** Raised by each promotion and each point-in-time recovery; null on a standby. */
  timeline: number | null
  /** Milliseconds since 1970, by the server's clock. */
  startedAt: number
  standbys: Standbys
  /** Transactions that have waited for a synchronous standby for so long that their callers have given up. */
  stuckCommits: number
  /** Tells this server's processes from each other. */
  backend: string
}

/** 0 for a standby, so that it is behind every primary. */
export const timelineOf = ({ timeline }: Pick<ServerFacts, 'timeline'>) => timeline ?? 0

const FACTS = `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS "versionNumber",
    current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS "isStandby",
    current_setting('transaction_read_only')::bool AS "isReadOnly", current_setting('fsync')::bool AS fsync,
    current_setting('full_page_writes')::bool AS "fullPageWrites", current_setting('data_checksums')::bool AS "dataChecksums",
    (SELECT system_identifier::text FROM pg_control_system()) AS "systemIdentifier",
    CASE WHEN NOT pg_is_in_recovery() THEN ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int END AS timeline,
    (extract(epoch FROM pg_postmaster_start_time()) * 1000)::float8 AS "startedAt",
    ${FOLLOWERS},
    ${UNLOGGED} AS unlogged,
    (SELECT count(*)::int FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query_start < clock_timestamp() - interval '5 s')
      AS "stuckCommits",
    (SELECT pid || ' ' || backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS backend`

type FactsRow = Omit<ServerFacts, 'standbys'> & FollowerRow

/** Throws `conflict` when the user may not ask which server it is. */
export async function readServerFacts(session: Session): Promise<ServerFacts> {
  const [row] = await session.query<FactsRow>(FACTS).catch((cause) => {
    throw stateOf(cause) === PERMISSION ? new DomainError('conflict', UNNAMED) : cause
  })
  if (row === undefined) throw new Error('PostgreSQL said nothing about itself')
  const { standbyNames, followers, ...facts } = row
  return { ...facts, standbys: standbysOf({ standbyNames, followers }) }
}

const UNNAMED =
  'The user of --database-url may not execute pg_control_system(), by which Oncebox tells this PostgreSQL server from others: ' +
  'GRANT EXECUTE ON FUNCTION pg_control_system() TO the user.'

/** Whether it takes writes that it cannot commit. A standby may be about to take over. */
export function isStuck({ stuckCommits }: ServerFacts): boolean {
  return stuckCommits >= MOST_STUCK_COMMITS
}

/** Each keeps a connection of the server, which must not run out of them. */
const MOST_STUCK_COMMITS = 8
const OLDEST_VERSION = 13_00_00

/** `tearsNoPages`: the operator says that the storage of the server writes each page whole or not at all. */
export type ServerTrust = { tearsNoPages?: boolean | undefined }

/** Why this server may not keep anything, a sentence each. */
export function findServerProblems(facts: ServerFacts, trust: ServerTrust = {}): string[] {
  return CHECKS.filter(([isWrong]) => isWrong(facts, trust)).map(([, explain]) => explain(facts))
}

type Check = [(facts: ServerFacts, trust: ServerTrust) => boolean, (facts: ServerFacts) => string]

const CHECKS: Check[] = [
  [
    ({ versionNumber }) => versionNumber < OLDEST_VERSION,
    ({ version }) => `PostgreSQL ${version} is too old. Upgrade the server to version 13 or later.`,
  ],
  [
    ({ encoding }) => encoding !== 'UTF8',
    ({ encoding }) =>
      `The database has the encoding ${encoding}. Make one with ENCODING 'UTF8' TEMPLATE template0, and name that.`,
  ],
  [
    ({ isStandby }) => isStandby,
    () =>
      'The server is a standby, which can only be read. Name the primary in --database-url, or both (host1,host2): the one that ' +
      'takes writes is used.',
  ],
  [
    ({ isStandby, isReadOnly }) => isReadOnly && !isStandby,
    () =>
      'The server only allows reading (default_transaction_read_only is on). See why (some ' +
      'services do this when the disk is full), and switch it off for the server, the database and the user.',
  ],
  [
    isStuck,
    // The same words while they become more, so that the log has them once.
    () =>
      `At least ${MOST_STUCK_COMMITS} transactions wait for a synchronous standby that does not answer. Start it, or take it out of ` +
      'synchronous_standby_names.',
  ],
  [
    ({ fsync }) => !fsync,
    () =>
      'The server has fsync = off: after a power cut it would forget what was acknowledged and give secrets out again. Set fsync = on.',
  ],
  [({ unlogged }) => unlogged.length > 0, ({ unlogged }) => explainUnlogged(unlogged)],
  [
    ({ fullPageWrites }, { tearsNoPages }) => !fullPageWrites && tearsNoPages !== true,
    () =>
      'The server has full_page_writes = off: a power cut could damage its tables unnoticed. Set full_page_writes = on. Only if ' +
      'its storage never tears a page (ZFS with records of 8 kB or more, Aurora), add full_page_writes=off to --database-url.',
  ],
]

/** What an operator should know, though the server can be used; a sentence each. */
export function findServerWarnings(facts: ServerFacts): string[] {
  return [
    ...(facts.dataChecksums ? [] : [NO_CHECKSUMS]),
    ...(facts.fullPageWrites ? [] : [TORN_PAGES]),
    ...(judgeStandbys(facts.standbys) === 'asynchronous' ? [ASYNCHRONOUS] : []),
  ]
}

export const TORN_PAGES =
  'PostgreSQL has full_page_writes = off, which --database-url allows: that is safe only while its storage writes each page whole ' +
  'or not at all. Elsewhere a power cut damages its tables.'

const NO_CHECKSUMS =
  'PostgreSQL has no data checksums, so damage on its disk may stay unnoticed: stop it and run pg_checksums --enable.'
const ASYNCHRONOUS =
  'The standbys of PostgreSQL are asynchronous: after a failover the last pushes may be missing, and views that were counted last ' +
  'may be given out again. Set synchronous_standby_names.'

/** Why a server is not the one that was used before; null when it is, or follows that one after a failover. */
export function findOtherServer(
  facts: ServerFacts,
  before: Pick<ServerFacts, 'systemIdentifier' | 'timeline'>,
): string | null {
  if (facts.systemIdentifier !== before.systemIdentifier)
    return (
      `The address leads to another PostgreSQL server than before (system identifier ${facts.systemIdentifier}, before ` +
      `${before.systemIdentifier}). If that is meant, restart Oncebox.`
    )
  if (timelineOf(facts) < timelineOf(before))
    return (
      `The address leads to a server that was left behind by a failover (timeline ${facts.timeline}, before ${before.timeline}). ` +
      'Stop that server; if it was restored on purpose, restart Oncebox.'
    )
  return null
}
