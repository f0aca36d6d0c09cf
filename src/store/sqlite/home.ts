// The home of a data folder, which every start of a server checks: the path that it was served from, and a
// mark, stored in the database and in `serve.home`, that changes at each start and clean end. A copy has
// another path; a database that was put back has an old mark. If the whole folder was put back, path and mark
// are as before, but the database is a new file: `serve.home` also holds the file's birth time.

import type { Database } from 'bun:sqlite'
import { existsSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { randomKey } from '../../crypto/random.ts'
import { conflict } from '../../domain/errors.ts'
import { formatTime } from '../../domain/time.ts'
import { atStep } from '../durable-steps.ts'
import type { DataFolder } from '../folder/data-folder.ts'
import { createClosedFile, syncFolder } from '../folder/durable-files.ts'

const MARK_BYTES = 16
const HOME_TEXT = '# Oncebox: by this file a database that was put back is noticed. Leave it here.'
const SERVING_TEXT =
  '# Oncebox: a server runs here, or was killed. Leave this file here, and oncebox.db-wal beside it.'

/**
 * Returns whether the WAL of a killed server was removed; otherwise deletes that server's note, because
 * closing the database will checkpoint the WAL. Call this before opening a database that no process serves.
 */
export function takeLog(folder: DataFolder): boolean {
  const isLost = isLogLost(folder)
  if (!isLost) rmSync(folder.serving, { force: true })
  return isLost
}

export function isLogLost({ serving, database }: DataFolder): boolean {
  return existsSync(serving) && !existsSync(`${database}-wal`)
}

export type RequireHomeOptions = {
  folder: DataFolder
  isLogLost: boolean
  /** Accepts a moved or copied folder from now on. */
  acceptMove: boolean
  onWarning: (warning: string) => void
}

/**
 * Throws `conflict` for a moved or copied folder, unless that is accepted, which logs a warning about the
 * consequences. Returns whether it was moved.
 */
export async function requireHome(database: Database, options: RequireHomeOptions): Promise<boolean> {
  const { folder, acceptMove, onWarning } = options
  const move = await findMove(database, options)
  if (move === null) {
    if (acceptMove)
      onWarning('--accept-move was not needed at this start: leave it out, or a copy will not be noticed.')
    return false
  }
  if (!acceptMove) throw conflict(`${refusalOf(folder, move)} ${REMEDY}`)
  onWarning(
    `--accept-move: ${folder.path} is served from here now. ${move.why} Whatever was read, expired or deleted since can be opened ` +
      'here again. Never start the original again.',
  )
  return true
}

type Home = { mark: string; path: string }

const readHome = (database: Database) => database.query<Home, []>('SELECT mark, path FROM home').get()

type Move = { looks: string; why: string }

async function findMove(database: Database, { folder, isLogLost }: RequireHomeOptions): Promise<Move | null> {
  const known = readHome(database)
  const here = realpathSync(folder.path)
  if (isLogLost) return { ...COPIED, why: explainLostLog(folder) }
  if (known !== null && known.path !== here)
    return { ...COPIED, why: `It was last served as ${known.path}; now it is ${here}.` }
  const { marks, born } = await readHomeFile(folder)
  if (!marks.includes(known?.mark ?? NONE))
    return {
      ...COPIED,
      why: `${folder.database} and ${folder.home} are from different times: one of them was put back or removed.`,
    }
  const bornNow = findBirth(folder)
  if (born === null || bornNow === null || born === bornNow) return null
  return {
    looks: 'looks put back',
    why:
      `${folder.database} is another file than the one that was served last, which was made at ${presentBirth(born)}; this one was ` +
      `made at ${presentBirth(bornNow)}. A tool that copies or restores files does that.`,
  }
}

const COPIED = { looks: 'looks like a copy, or was moved' }

const explainLostLog = ({ database }: DataFolder) =>
  `Its server was killed, and the log ${database}-wal, which held the latest changes, was removed since. If a program such as ` +
  'sqlite3 has opened the database meanwhile, without -readonly, it moved the log into the database: then nothing is lost, and ' +
  '--accept-move is right.'

/**
 * Returns the birth time of the database file, in nanoseconds; null if the file system reports none, or
 * without statx(2). Bun then returns the time of the last change instead; the folder, which changes after its
 * creation, reveals that.
 */
function findBirth({ path, database }: DataFolder): string | null {
  const [folder, { birthtimeNs }] = [statSync(path, { bigint: true }), statSync(database, { bigint: true })]
  return birthtimeNs > 0n && folder.birthtimeNs !== folder.ctimeNs ? String(birthtimeNs) : null
}

const presentBirth = (nanoseconds: string) => formatTime(Number(BigInt(nanoseconds) / 1_000_000n))

function refusalOf({ path }: DataFolder, { looks, why }: Move): string {
  return (
    `${path} ${looks}. ${why} A copy holds the keys: it would hand out again what was read, ` +
    'expired or deleted at the original since.'
  )
}

const REMEDY =
  'To return to an earlier state, use a backup and "oncebox restore". If the folder has truly moved and the original is gone ' +
  'for good, start the server once with --accept-move (ONCEBOX_ACCEPT_MOVE=true): everything that was read there after the ' +
  'copy was made can then be opened here again.'

/** The mark in a folder that no server has served. */
const NONE = ''

/**
 * Reads the marks. There are two after a process has died while it changed the mark; the database has one of
 * them. `born` is null if no birth time is stored.
 */
async function readHomeFile(folder: DataFolder): Promise<{ marks: string[]; born: string | null }> {
  const text = (await createClosedFile(folder.home).read()) ?? NONE
  const marks = text.replace(HOME_TEXT, '').trimEnd().split('\n')
  const born = /^born (\d+)$/.exec(marks.at(-1) ?? '')?.[1] ?? null
  return { marks, born }
}

async function writeMarks(folder: DataFolder, marks: readonly string[]): Promise<void> {
  const born = findBirth(folder)
  const lines = [...marks, ...(born === null ? [] : [`born ${born}`]), HOME_TEXT]
  await createClosedFile(folder.home).write(`${lines.join('\n')}\n`)
}

/**
 * Changes the mark in file and database. A kill at any moment leaves a pair that the next start accepts. The
 * last sync also makes durable what `meanwhile` does in the folder.
 */
async function changeMark(database: Database, folder: DataFolder, meanwhile?: () => void): Promise<void> {
  const last = readHome(database)?.mark ?? NONE
  const next = randomKey(MARK_BYTES).toString('hex')
  atStep('before the next mark is written')
  await writeMarks(folder, [last, next])
  atStep('before the mark changes')
  database.run('INSERT OR REPLACE INTO home (id, mark, path) VALUES (1, ?, ?)', [
    next,
    realpathSync(folder.path),
  ])
  meanwhile?.()
  atStep('before the last mark is forgotten')
  await writeMarks(folder, [next])
  atStep('after the last mark was forgotten')
}

/**
 * Records that a server has the folder open. The commit of the mark has created the WAL, which exists until
 * the database is closed.
 */
export async function arrive(database: Database, folder: DataFolder): Promise<void> {
  await changeMark(database, folder, () =>
    writeFileSync(folder.serving, `${SERVING_TEXT}\n`, { mode: 0o600 }),
  )
}

/** Changes the mark before the database is closed, so that a copy from before that is detected. */
export async function leave(database: Database, folder: DataFolder): Promise<void> {
  // A full disk does no harm: the last mark stays valid.
  await changeMark(database, folder).catch(() => undefined)
  rmSync(folder.serving, { force: true })
  syncFolder(folder.path)
}

/** Watches whether the files that SQLite has open are still those at their paths. */
export function watchPlace(path: string): () => boolean {
  const files = [path, `${path}-wal`]
  const inodeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.ino
  const opened = files.map(inodeOf)
  return () => files.every((file, index) => inodeOf(file) === opened[index])
}
