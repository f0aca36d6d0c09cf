// The home of a data folder: written down whenever it was served, and compared before it is served again.

import type { Database } from 'bun:sqlite'
import { existsSync, realpathSync, statSync } from 'node:fs'
import { randomKey } from '../../../crypto/random.ts'
import { DomainError } from '../../../domain/errors.ts'
import { findMoves, type Home, type Place, presentMoves } from '../../../domain/home.ts'
import { type DataFolder, dataFolder } from '../../folder/data-folder.ts'
import { isServed } from '../../folder/folder-lock.ts'
import { factsOf, makeMark, readMarks, settleMark } from '../../folder/home-marks.ts'
import type { Connection } from './database.ts'
import { home as homes } from './schema.ts'

const INCARNATION_BYTES = 16

export type HomeOptions = { folder: DataFolder; machine: string | null }

/** How a folder was found: at home, never served before, or elsewhere, in words. */
export type Found = { state: 'home' | 'new' } | { state: 'moved'; said: string }

type HomeRow = typeof homes.$inferSelect

/** Changes nothing. */
export function lookHome(
  { orm, database }: Pick<Connection, 'orm' | 'database'>,
  options: HomeOptions,
): Found {
  const row = hasHome(database) ? orm.select().from(homes).get() : undefined
  if (row === undefined) return { state: 'new' }
  const home = homeOf(row)
  const place = findPlace(home, options)
  const moves = findMoves(home, place)
  return moves.length === 0
    ? { state: 'home' }
    : { state: 'moved', said: presentMoves(moves, home, place) + tellOfOriginal(home, place) }
}

/** Databases of older versions remember nothing. */
function hasHome(database: Database): boolean {
  return database.query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'home'").get() !== null
}

function homeOf(row: HomeRow): Home {
  const { machine, path, servedAt, incarnation } = row
  return {
    ...{ machine, path, servedAt },
    mark: { incarnation, facts: { inode: row.markInode, birth: row.markBirth } },
    database: { inode: row.databaseInode, birth: row.databaseBirth },
  }
}

function findPlace(home: Home, { folder, machine }: HomeOptions): Place {
  return {
    machine,
    path: realpathSync(folder.path),
    marks: readMarks(folder),
    database: factsOf(folder.database),
    isReachedFromHome: isSameFolder(home.path, folder.path),
    isHomeEmpty: !existsSync(dataFolder(home.path).database),
  }
}

/** A folder that is mounted at two places is no copy. */
function isSameFolder(one: string, other: string): boolean {
  const [first, second] = [one, other].map((path) => {
    try {
      return statSync(path, { bigint: true })
    } catch {
      return null
    }
  })
  return first != null && second != null && first.dev === second.dev && first.ino === second.ino
}

function tellOfOriginal(home: Home, place: Place): string {
  const isHere = home.machine === place.machine && home.path !== place.path && existsSync(home.path)
  try {
    return isHere && isServed(dataFolder(home.path)) ? ' The original is being served at this moment.' : ''
  } catch {
    return ''
  }
}

/** Throws `conflict` for a copy, unless it is accepted; then that is told. */
export function requireHome(
  connection: Connection,
  options: HomeOptions & { acceptMove: boolean; onWarning: (warning: string) => void },
): void {
  const { folder, acceptMove, onWarning } = options
  const found = lookHome(connection, options)
  if (found.state !== 'moved') {
    if (acceptMove)
      onWarning('--accept-move was not needed at this start: leave it out, or a copy will not be noticed.')
    return
  }
  if (!acceptMove) throw new DomainError('conflict', `${refusalOf(folder, found.said)} ${REMEDY}`)
  onWarning(
    `--accept-move: ${folder.path} is served from here now. ${found.said} Whatever was read, expired or deleted at the ` +
      'original after the copy was made can be opened here again. Never start the original again.',
  )
}

function refusalOf({ path }: DataFolder, said: string): string {
  return (
    `${path} looks like a copy, or was moved. ${said} A copy holds the keys: it would hand out again what was read, ` +
    'expired or deleted at the original since.'
  )
}

const REMEDY =
  'To return to an earlier state, use a backup and "oncebox restore". If the folder has truly moved and the original is gone ' +
  'for good, start the server once with --accept-move (ONCEBOX_ACCEPT_MOVE=true): everything that was read there after the ' +
  'copy was made can then be opened here again.'

export type Homecoming = {
  /** Writes down that this is its home. Does nothing when the disk has no room: then the last home stays. */
  remember(now: number): void
}

/** For the process that serves the folder. */
export function createHomecoming(connection: Connection, { folder, machine }: HomeOptions): Homecoming {
  const { orm, database } = connection

  function remember(now: number): void {
    const known = orm.select().from(homes).get()
    if (known !== undefined) settleMark(folder, known.incarnation)
    const mark = makeMark(folder, randomKey(INCARNATION_BYTES).toString('hex'))
    // A folder that two paths lead to may be served from either.
    const isAlias = known !== undefined && isSameFolder(known.path, folder.path)
    const path = isAlias ? known.path : realpathSync(folder.path)
    write({ machine, path, mark, database: factsOf(folder.database), servedAt: now })
    settleMark(folder, mark.incarnation)
  }

  function write(home: Home): void {
    const { machine, path, mark, servedAt } = home
    const row = {
      ...{ machine, path, servedAt, incarnation: mark.incarnation },
      ...{ markInode: mark.facts.inode, markBirth: mark.facts.birth },
      ...{ databaseInode: home.database.inode, databaseBirth: home.database.birth },
    }
    const statement = orm
      .insert(homes)
      .values({ id: 1, ...row })
      .onConflictDoUpdate({ target: homes.id, set: row })
    database.transaction(() => statement.run()).immediate()
  }

  return { remember }
}
