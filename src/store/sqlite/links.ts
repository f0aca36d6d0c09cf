// The index of links: which push a link opens, by what the link hashes to.
//
// The rows of this index lie at random places. A row that was written with its push would cost the create a
// page of 4 KiB, and a sixth of its time. So new links stay in memory, in a table that is never on the disk,
// until there are some thousands. Then they are filed in the order of the index, where many share a page. A
// start reads those that are not filed from the rows of their pushes.

import type { Database } from 'bun:sqlite'
import { isFull } from '../folder/sqlite-failures.ts'
import { truncateLog } from './checkpoint.ts'
import type { Transact } from './group-commit.ts'

/** The number of links that may stay in memory, some hundred KiB. */
const MOST_NEW = 8_192
/** The index is filed in this many parts: a few hundred links each, so that no request waits long. */
const PARTS = 16

const IN_MEMORY = [
  'CREATE TEMP TABLE new_links (lookup BLOB PRIMARY KEY NOT NULL, push_id INTEGER NOT NULL) STRICT, WITHOUT ROWID',
  'INSERT INTO new_links SELECT lookup, id FROM main.pushes WHERE id > (SELECT up_to FROM links_filed)',
  `CREATE TEMP TRIGGER new_links_add AFTER INSERT ON main.pushes
    BEGIN
      SELECT RAISE(ABORT, 'another push has this link') FROM main.push_links WHERE lookup = NEW.lookup;
      INSERT INTO new_links VALUES (NEW.lookup, NEW.id);
    END`,
  `CREATE TEMP TRIGGER new_links_removal AFTER DELETE ON main.pushes
    BEGIN DELETE FROM new_links WHERE lookup = OLD.lookup; END`,
  // Search the new links first, because most links are opened soon after they are made.
  `CREATE TEMP VIEW links AS
    SELECT lookup, push_id FROM new_links UNION ALL SELECT lookup, push_id FROM main.push_links`,
]
const NEWEST = 'SELECT coalesce(max(id), 0) AS id FROM pushes'
/** Files a link; ignores one that an interrupted filing has already written. */
const FILE = 'INSERT OR IGNORE INTO push_links'

export type Links = {
  /** Files the new links once there are many. Call this after each commit, with the number of its steps. */
  noteCommitted(steps: number, transact: Transact): void
  /** Resolves when no filing is running. The next start finds the unfiled links. */
  close(): Promise<void>
}

/** Prepares a connection to find pushes by their links, including the ones that it adds. */
export function openLinks(database: Database, mostNew = MOST_NEW): Links {
  const filed = database.prepare<{ id: number }, []>('SELECT up_to AS id FROM links_filed')
  const newest = database.prepare<{ id: number }, []>(NEWEST)
  /**
   * Returns the minimum number of unfiled links; 0 if the last filed push is later than all that exist, as
   * after a purge of the newest.
   */
  const countNew = () => Math.max(0, (newest.get()?.id ?? 0) - (filed.get()?.id ?? 0))
  if (countNew() > mostNew) fileAllIfRoom(database)
  for (const sql of IN_MEMORY) database.run(sql)
  const filePart = database.prepare(
    // A command beside the server deletes pushes too, and cannot see the table of this connection.
    `${FILE} SELECT lookup, push_id FROM new_links WHERE lookup >= ?1 AND lookup < ?2 AND push_id <= ?3
      AND EXISTS (SELECT 1 FROM main.pushes WHERE id = push_id)`,
  )
  const noteFiled = database.prepare('UPDATE links_filed SET up_to = ?')
  const forget = database.prepare('DELETE FROM new_links WHERE push_id <= ?')
  let filing: Promise<void> | null = null
  let isClosed = false
  /** An upper bound on the added links: one for each step. The links of an import are counted later. */
  let added = countNew()
  let most = added > mostNew ? added + mostNew : mostNew

  async function fileParts(transact: Transact): Promise<void> {
    const upTo = newest.get()?.id ?? 0
    for (let part = 0; part < PARTS && !isClosed; part += 1)
      await transact(() => void filePart.run(boundary(part), boundary(part + 1), upTo), { grows: true })
    if (isClosed) return
    await transact(() => {
      noteFiled.run(upTo)
      forget.run(upTo)
    })
  }

  return {
    noteCommitted(steps, transact) {
      added += steps
      if (filing !== null || isClosed || added <= most) return
      added = countNew()
      if (added <= most) return
      filing = fileParts(transact)
        .then(
          () => {
            most = mostNew
          },
          // Do the same as on a full disk: keep the links in memory, and try again after as many more.
          () => {
            most = countNew() + mostNew
          },
        )
        .finally(() => {
          filing = null
        })
    },
    async close() {
      isClosed = true
      await filing
    },
  }
}

/** Files all links. For a restore, a copy, or a database that was filled in another way. */
export function fileAll(database: Database): void {
  database.transaction(() => {
    const unfiled = 'WHERE id > (SELECT up_to FROM links_filed)'
    database.run(`${FILE} SELECT lookup, id FROM pushes ${unfiled} ORDER BY lookup`)
    database.run(`UPDATE links_filed SET up_to = (${NEWEST})`)
  })()
}

/** Files the links; keeps them in memory if the disk is full, so that the server still starts. */
function fileAllIfRoom(database: Database): void {
  try {
    fileAll(database)
  } catch (cause) {
    if (!isFull(cause)) throw cause
    // The WAL has used up the free space that the rest of the start needs.
    truncateLog(database)
  }
}

/** Returns the start of the n-th part of the index. No hash equals the end of the last part. */
function boundary(n: number): Buffer {
  return n < PARTS ? Buffer.from([(n * 256) / PARTS]) : Buffer.alloc(17, 255)
}
