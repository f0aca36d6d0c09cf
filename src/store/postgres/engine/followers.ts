// Which servers follow this one, as the user of the database may see it. An ordinary user sees their names; only one who may read all
// statistics sees whether they confirm changes.

import { isNamed, type Standbys } from '../../../domain/standbys.ts'

/** What no failover can make a primary. The names are those that the programs of PostgreSQL give themselves. */
const IS_NO_STANDBY = `(application_name IN ('pg_basebackup', 'pg_receivewal', 'pg_recvlogical') OR (state = 'backup') IS TRUE
    OR EXISTS (SELECT FROM pg_replication_slots WHERE slot_type = 'logical' AND active_pid = pid))`

/** Columns for FollowerRow. */
export const FOLLOWERS = `current_setting('synchronous_standby_names') AS "standbyNames",
    ARRAY(SELECT concat_ws('/', coalesce(sync_state, 'unseen'), CASE WHEN ${IS_NO_STANDBY} THEN 'other' ELSE 'standby' END,
        application_name) FROM pg_stat_replication ORDER BY pid) AS followers`

export type FollowerRow = { standbyNames: string; followers: string[] }

export function standbysOf({ standbyNames, followers }: FollowerRow): Standbys {
  const found = followers.map(parseFollower)
  const namesOf = (some: typeof found) => some.map(({ name }) => name)
  const isSeen = found.every(({ state }) => state !== 'unseen')
  return {
    names: standbyNames,
    following: namesOf(found.filter(({ kind }) => kind === 'standby')),
    named: namesOf(found.filter(({ name }) => isNamed(name, standbyNames))),
    confirming: isSeen ? namesOf(found.filter(({ state }) => state === 'sync' || state === 'quorum')) : null,
  }
}

function parseFollower(text: string): { state: string; kind: string; name: string } {
  const [state = '', kind = '', ...name] = text.split('/')
  return { state, kind, name: name.join('/') }
}
