// A thread that waits for the disk, so that the server's own thread never does. It syncs the log, or empties it.
//
// It waits for calls in memory that both threads share, see disk-threads.ts, and never returns to its event loop.

import { Database } from 'bun:sqlite'
import { fdatasyncSync, fstatSync } from 'node:fs'

const [ASKED, ANSWERED, RESULT] = [0, 1, 2]
const FAILED = -1
const END = -1
const MAX_RESULT = 2 ** 30

self.onmessage = ({ data: { role, numbers, text, ...parts } }) => {
  const { work, end } =
    attempt(() => (role === 'sync' ? createSync(parts) : createEmptying(parts))) ?? NOTHING
  for (let last = 0; last !== END; ) {
    Atomics.wait(numbers, ASKED, last)
    last = Atomics.load(numbers, ASKED)
    const result = attempt(last === END ? end : work)
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

/** Returns the bytes of the log. After a sync that failed the next one may succeed, without what the first one lost: all fail. */
function createSync({ descriptor }) {
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
    const { nlink, size } = fstatSync(descriptor)
    if (nlink === 0) throw new Error('the log of the database was removed while it was served')
    return Math.min(size, MAX_RESULT)
  }
  return { work, end: () => 0 }
}

/** Returns 1 once the log is empty, and 0 when another connection was reading or writing. */
function createEmptying({ path, pragmas }) {
  const database = new Database(path, { readwrite: true, create: false })
  for (const pragma of pragmas) database.run(`PRAGMA ${pragma}`)
  const passive = database.prepare('PRAGMA wal_checkpoint(PASSIVE)')
  const truncate = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)')
  const work = () => {
    // Moves most of the log while others write. They wait for the rest only.
    const before = passive.get()
    const { log, checkpointed } = passive.get()
    // Another connection still reads what is not moved: to wait for it here would keep the server from writing.
    if (checkpointed < log && checkpointed === before.checkpointed) return 0
    return truncate.get().busy === 0 ? 1 : 0
  }
  const end = () => {
    for (const statement of [passive, truncate]) statement.finalize()
    database.close(true)
    return 0
  }
  return { work, end }
}
