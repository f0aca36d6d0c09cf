// Where a data folder was served last, and whether it still is there: a copy of it holds keys, and would hand out again what
// was read at its original since.

import { formatTime } from './time.ts'

/** What tells a file from a copy of it; null for what the file system does not tell, or not for good. */
export type FileFacts = {
  inode: string | null
  /** When the file was made, in milliseconds. No program can set it on Linux. */
  birth: number | null
}

/** A file beside the database that is made anew for every time that the home is written down. */
export type HomeMark = { incarnation: string; facts: FileFacts }

export type Home = {
  /** Null when the machine has no lasting name, such as a container. */
  machine: string | null
  path: string
  mark: HomeMark
  database: FileFacts
  servedAt: number
}

export type Place = Pick<Home, 'machine' | 'path' | 'database'> & {
  marks: readonly HomeMark[]
  /** Whether the remembered path leads to this very folder, as another mount of it does. */
  isReachedFromHome: boolean
  /** Whether there is no database at the remembered path any more. */
  isHomeEmpty: boolean
}

/** Another machine, another path, files that were put there anew, or a database from another time than its mark. */
export type Move = 'machine' | 'path' | 'files' | 'database'

/** Everything that is not as it was; what one side does not know is passed over. */
export function findMoves(home: Home, place: Place): Move[] {
  const isOtherMachine = home.machine !== null && place.machine !== null && home.machine !== place.machine
  const isOtherPath = home.path !== place.path && !place.isReachedFromHome
  const change = changeOfFiles(home, place)
  return [
    ...(isOtherMachine ? ['machine' as const] : []),
    ...(isOtherPath ? ['path' as const] : []),
    ...(change === null ? [] : [change]),
  ]
}

/** Without any mark, which somebody may have tidied away, the database file itself decides. */
function changeOfFiles(home: Home, { marks, database }: Place): 'files' | 'database' | null {
  if (marks.length === 0) return isSameFile(home.database, database) ? null : 'files'
  const mark = marks.find(({ incarnation }) => incarnation === home.mark.incarnation)
  if (mark === undefined) return 'database'
  return isSameFile(home.mark.facts, mark.facts) ? null : 'files'
}

/** An inode is used again for another file, so the birth decides where both know it. */
function isSameFile(known: FileFacts, found: FileFacts): boolean {
  if (known.birth !== null && found.birth !== null) return known.birth === found.birth
  return known.inode === null || found.inode === null || known.inode === found.inode
}

/** What was remembered, and what is now. */
export function presentMoves(moves: readonly Move[], home: Home, place: Place): string {
  const said = moves.map((move) => WORDS[move](home, place))
  const list = said.length > 1 ? `${said.slice(0, -1).join(', ')}, and ${said.at(-1)}` : said.join('')
  const hasSameFiles = moves.join() === 'path' && hasFacts(home.mark.facts) && place.marks.length > 0
  const isRenamed = hasSameFiles && place.isHomeEmpty
  const hint = isRenamed
    ? ' Its files are the same ones as then: it was renamed, or is on a snapshot of its disk.'
    : ''
  return `It was last served at ${formatTime(home.servedAt)} as ${home.path}; ${list}.${hint}`
}

const WORDS: Record<Move, (home: Home, place: Place) => string> = {
  machine: (home, place) =>
    `that was another machine (${nameOf(home.machine)}, this one is ${nameOf(place.machine)})`,
  path: (_, place) => `now it is ${place.path}`,
  files: () => 'its files were put there anew since, from a copy',
  database: () => 'its database is not the one that was served last, but one from another time',
}

function hasFacts({ inode, birth }: FileFacts): boolean {
  return inode !== null || birth !== null
}

/** Enough of a hash for a person to compare. */
function nameOf(machine: string | null): string {
  return machine === null ? 'unknown' : machine.slice(0, 8)
}
