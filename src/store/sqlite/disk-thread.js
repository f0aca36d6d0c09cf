// A thread that waits for the disk, so that the server's own thread never does. It syncs the log, or empties it.
//
// It waits for calls in memory that both threads share, see disk-threads.ts, and never returns to its event loop.

import { Database } from 'bun:sqlite'
import { fdatasyncSync, fstatSync, readSync } from 'node:fs'

const [ASKED, ANSWERED, RESULT, HOW, STARTED] = [0, 1, 2, 3, 4]
const FAILED = -1
const END = -1

self.onmessage = ({ data: { role, numbers, text, ...parts } }) => {
  Atomics.store(numbers, STARTED, 1)
  Atomics.notify(numbers, STARTED)
  const { work, end } =
    attempt(() => (role === 'sync' ? createSync(parts) : createEmptying(parts))) ?? NOTHING
  for (let last = 0; last !== END; ) {
    Atomics.wait(numbers, ASKED, last)
    last = Atomics.load(numbers, ASKED)
    const result = attempt(last === END ? end : () => work(Atomics.load(numbers, HOW)))
    Atomics.store(numbers, RESULT, result ?? FAILED)
    Atomics.store(numbers, ANSWERED, last)
    Atomics.notify(numbers, ANSWERED)
  }

  function attempt(what) {
    try {
      return what()
    } catch (cause) {
      new TextEncoder().encodeInto(`${cause.code ?? ''} ${cause.message}\0`, text)
      return null
    }
  }
}

/** What failed at the beginning fails at every call. */
const NOTHING = { work: () => null, end: () => 0 }

/**
 * Returns 1 when the log has more than so many bytes, and 0 otherwise. After a sync that failed the next one may succeed, without what
 * the first one lost: all fail.
 */
function createSync({ descriptor, limit }) {
  let failure = null
  const work = () => {
    if (failure !== null) throw failure
    try {
      return sync()
    } catch (cause) {
      failure = cause
      throw cause
    }
  }
  const sync = () => {
    fdatasyncSync(descriptor)
    if (fstatSync(descriptor).nlink === 0)
      throw new Error('the log of the database was removed while it was served')
    return isLonger(descriptor, limit) ? 1 : 0
  }
  return { work, end: () => 0 }
}

/** SQLite's format of the log: its head has the size of a page and salts, and the head of each frame the same salts. */
const [HEAD, PAGE_SIZE_AT, SALTS_AT, FRAME_HEAD, FRAME_SALTS_AT, SALTS] = [32, 8, 16, 24, 8, 8]

/** Whether the log has reached this place of its file. The frames after its end, which are left of an earlier log, have other salts. */
function isLonger(descriptor, place) {
  const head = Buffer.alloc(HEAD)
  const found = Buffer.alloc(SALTS)
  readSync(descriptor, head, 0, HEAD, 0)
  const frame = FRAME_HEAD + head.readUInt32BE(PAGE_SIZE_AT)
  const read = readSync(descriptor, found, 0, SALTS, HEAD + Math.ceil(place / frame) * frame + FRAME_SALTS_AT)
  return read === SALTS && found.equals(head.subarray(SALTS_AT, SALTS_AT + SALTS))
}

/** A pass moves what was written before it. It also syncs the database if nobody has written since. */
const PASSES = 3

/** Moves the log, and truncates it if `how` is 1. Returns 1, or 0 when another connection was reading or writing. */
function createEmptying({ path, pragmas }) {
  const database = new Database(path, { readwrite: true, create: false })
  for (const pragma of pragmas) database.run(`PRAGMA ${pragma}`)
  const passive = database.prepare('PRAGMA wal_checkpoint(PASSIVE)')
  // The next commit begins the log anew in the same file. After a truncation the server would read each page of its cache again.
  const full = database.prepare('PRAGMA wal_checkpoint(FULL)')
  const truncate = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)')
  const work = (how) => {
    // Moves most of the log while others write. They wait while the rest is moved.
    let moved = passive.get()
    for (let pass = 1; pass < PASSES; pass += 1) {
      const before = moved
      moved = passive.get()
      // Another connection still reads what is not moved: to wait for it here would keep the server from writing.
      if (moved.checkpointed < moved.log && moved.checkpointed === before.checkpointed) return 0
    }
    return (how === 1 ? truncate : full).get().busy === 0 ? 1 : 0
  }
  const end = () => {
    for (const statement of [passive, full, truncate]) statement.finalize()
    database.close(true)
    return 0
  }
  return { work, end }
}
