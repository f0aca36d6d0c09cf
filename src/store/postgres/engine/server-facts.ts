// The three questions that Oncebox asks a PostgreSQL server before it trusts it, and what to do about each wrong answer.

import type { Session } from './database.ts'

export type ServerFacts = {
  /** Such as `15.6`. */
  version: string
  versionNumber: number
  isStandby: boolean
  fsync: boolean
}

const FACTS = `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS "versionNumber",
    pg_is_in_recovery() AS "isStandby", current_setting('fsync')::bool AS fsync`

export async function readServerFacts({ query }: Pick<Session, 'query'>): Promise<ServerFacts> {
  const [facts] = await query<ServerFacts>(FACTS)
  if (facts === undefined) throw new Error('PostgreSQL said nothing about itself')
  return facts
}

const OLDEST_VERSION = 13_00_00

/** Why this server may not keep anything, a sentence each. */
export function findServerProblems({ version, versionNumber, isStandby, fsync }: ServerFacts): string[] {
  return [
    ...(versionNumber < OLDEST_VERSION
      ? [`PostgreSQL ${version} is too old. Upgrade the server to version 13 or later.`]
      : []),
    ...(isStandby ? [STANDBY] : []),
    ...(fsync ? [] : [NO_FSYNC]),
  ]
}

const STANDBY = 'The server is a standby, which can only be read. Name the primary in --database-url.'

const NO_FSYNC =
  'The server has fsync = off: after a power cut it would forget what was acknowledged and give secrets out again. Set fsync = on.'
