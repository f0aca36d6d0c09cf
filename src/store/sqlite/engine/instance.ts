// Whether a database is whole, and the mark of the time at which it was last in use.

import type { Database } from 'bun:sqlite'
import { statSync } from 'node:fs'
import type { Clock } from '../../../domain/clock.ts'
import { conflict, type DomainError } from '../../../domain/errors.ts'
import { MINUTE } from '../../../domain/time.ts'

/** Checking takes about five milliseconds for each MiB. */
const MAX_CHECKED_BYTES = 64 * 1024 * 1024

/** Throws when the database is damaged in its structure. A large one is not checked: starting must not take minutes. */
export function requireIntact(database: Database, most = MAX_CHECKED_BYTES): void {
  const pages = database.query<{ page_count: number }, []>('PRAGMA page_count').get()?.page_count ?? 0
  const pageBytes = database.query<{ page_size: number }, []>('PRAGMA page_size').get()?.page_size ?? 0
  if (isCutOff(database.filename, pageBytes)) throw damaged(database, 'it ends within a page')
  if (pages * pageBytes > most) return
  const found = database.query<{ integrity_check: string }, []>('PRAGMA integrity_check(1)').get()
  if (found === null || found.integrity_check === 'ok') return
  throw damaged(database, found.integrity_check.replaceAll('\n', ' '))
}

/** SQLite reads the missing end of a page as zeros. While its write-ahead log holds pages, the file may be unfinished. */
function isCutOff(path: string, pageBytes: number): boolean {
  const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return sizeOf(`${path}-wal`) === 0 && sizeOf(path) % Math.max(1, pageBytes) !== 0
}

function damaged({ filename }: Database, damage: string): DomainError {
  const remedy = 'Restore it from a backup; nothing of it was changed.'
  return conflict(`The database ${filename} is damaged (${damage}). ${remedy}`)
}

/** `mark` runs within every transaction and stores the time at most once a minute. `undo` runs when it was rolled back. */
export function createClockMarker(database: Database, clock: Clock): { mark(): void; undo(): void } {
  const write = database.prepare('UPDATE instance SET clock_mark = ?, clock_doubted = ?')
  let written = Number.NEGATIVE_INFINITY
  function mark(): void {
    const time = clock.now()
    if (time - written < MINUTE) return
    const doubt = clock.doubt()
    write.run(doubt?.expected ?? time, doubt?.said ?? null)
    written = time
  }
  const undo = () => {
    written = Number.NEGATIVE_INFINITY
  }
  return { mark, undo }
}
