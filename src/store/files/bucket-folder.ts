// The folder of a database in its bucket, and what keeps files from changing their place.

import { randomBase32 } from '../../crypto/random.ts'
import { DomainError } from '../../domain/errors.ts'

/** `tag` is its name. */
export type BucketFolder = {
  tag: string
  sessions: FolderSessions
  /** Some of the files that live pushes, or downloads after a last view, need at present; empty when none is needed. */
  findHeld(): Promise<readonly string[]>
  /** Whether another process that serves the same database is the one to mark the bucket, if it has no mark. */
  isMarkedByOthers?: () => Promise<boolean>
}

/**
 * Tell this database from a copy that is served elsewhere. Each start of a server gives the database a new session, and so do
 * nodes that start when no other one runs.
 */
export type FolderSessions = {
  /** Of those who serve the database now. */
  now(): Promise<string>
  ageOf(session: string): Promise<SessionAge>
}

/** `previous` is the session right before the present one. Of an `unknown` one the database does not know. */
export type SessionAge = 'now' | 'previous' | 'earlier' | 'unknown'

/** How many files are looked for in a bucket that may be the wrong one. */
export const HELD_LOOKS = 8

const SESSION_CHARACTERS = 26
/** The bucket may not have answered since the first of them. */
const REMEMBERED = 8

/** Adds a new session to those in a row, which holds the latest first. */
export function addSession(row: string | null): string {
  const before = row === null ? [] : listSessions(row)
  return [randomBase32(SESSION_CHARACTERS), ...before].slice(0, REMEMBERED).join(' ')
}

export function listSessions(row: string): string[] {
  return row.split(' ')
}

/** For a database that one process has to itself. */
export function ownSessions(row: string): FolderSessions {
  const known = listSessions(row)
  return {
    now: async () => known[0] ?? '',
    ageOf: async (session) => ageAt(known.indexOf(session)),
  }
}

/** `index` in the list of sessions, which has the latest first; -1 for none of them. */
export function ageAt(index: number): SessionAge {
  if (index < 0) return 'unknown'
  return index === 0 ? 'now' : index === 1 ? 'previous' : 'earlier'
}

/** How many pushes have files, and how many files can be downloaded after a last view. */
export type HeldFiles = { pushes: number; granted: number }

/** Where files are: on the disk of this server or of another one, or in a bucket. */
export type FilesAt = 'disk' | 'bucket' | { disk: string }

/** Throws `conflict` while files are needed where they are. */
export function requireNothingHeld({ pushes, granted }: HeldFiles, at: FilesAt): void {
  const [here, there] = namesOf(at)
  if (pushes > 0)
    throw new DomainError(
      'conflict',
      `${pushes === 1 ? 'A live push has its files' : `${pushes} live pushes have their files`} ${here}, which would be ` +
        `lost: start ${there} until they have expired.`,
    )
  if (granted > 0)
    throw new DomainError(
      'conflict',
      `Files ${here} can still be downloaded after a last view: start ${there}, or try again in some minutes.`,
    )
}

function namesOf(at: FilesAt): [here: string, there: string] {
  if (at === 'disk') return ['in the data folder', 'without --files-url']
  if (at === 'bucket') return ['in a bucket', 'with the --files-url of before']
  return [`in another data folder (${at.disk})`, 'with that one']
}
