// The folder of a database in its bucket, and what keeps files from changing their place.

import { randomBase32 } from '../../crypto/random.ts'
import { DomainError } from '../../domain/errors.ts'

/** `tag` is its name. `heldFiles`: whether pushes have files there. */
export type BucketFolder = {
  tag: string
  sessions: FolderSessions
  heldFiles: boolean
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
  /** Whether the database had this session. */
  knows(session: string): Promise<boolean>
}

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

/** For a database that one process has to itself. A move may have brought it from a database whose sessions name it. */
export function ownSessions(row: string): FolderSessions {
  const [now = '', ...before] = listSessions(row)
  const known = new Set([now, ...before])
  return { now: async () => now, knows: async (session) => known.has(session.split('.')[0] ?? '') }
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
        `lost: bring them over with "oncebox move", or start ${there} until they have expired.`,
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
