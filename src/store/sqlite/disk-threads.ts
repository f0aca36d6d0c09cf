// The threads that wait for the disk: one syncs the WAL after commits, the other one checkpoints it. Bun's
// thread pool is not used, because argon2 and the syncs of uploads keep it busy for long.

import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import { SYNCED } from './database.ts'

/** The busy timeout of the thread, in milliseconds. */
const BUSY_MS = 250

export type LogSync = {
  /**
   * Makes all earlier commits durable, and resolves to whether the WAL is long. After the disk failed or the
   * WAL was removed, it always rejects. A call during a sync waits for the next sync.
   */
  sync(): Promise<boolean>
  /**
   * Takes the result of a finished sync. Call this in long turns of the event loop, which would otherwise
   * notice it only when they end.
   */
  notice(): void
  /** Call this before the database is closed. */
  close(): Promise<void>
}

/**
 * Starts the thread that syncs the WAL. Call this once the database has created it. A WAL of `limit` bytes is
 * long.
 */
export function openLogSync(databasePath: string, limit: number): LogSync {
  const descriptor = openSync(`${databasePath}-wal`, 'r+')
  const thread = startThread({ role: 'sync', descriptor, limit })

  const close = () => thread.end(() => closeSync(descriptor))
  return { sync: async () => (await thread.call()) === 1, notice: () => void thread.takeAnswers(), close }
}

export type LogEmptier = {
  /** Checkpoints the WAL. Resolves to false when another connection was reading or writing. */
  move(): Promise<boolean>
  /** Checkpoints and truncates the WAL. Resolves to false if another connection was reading or writing. */
  empty(): Promise<boolean>
  close(): Promise<void>
}

/** File descriptors to reserve for a thread, more than it opens. If none is free, Bun ends the process. */
const THREAD_FILES = 16

/**
 * Starts its thread with the first call, because a server that destroys nothing needs none. Until then it
 * reserves file descriptors, so that connections cannot use up all of them.
 */
export function openLogEmptier(databasePath: string): LogEmptier {
  const pragmas = [`busy_timeout = ${BUSY_MS}`, ...SYNCED]
  const held = Array.from({ length: THREAD_FILES }, () => openSync(devNull, 'r'))
  let thread: Thread | null = null

  function start(): Thread {
    held.splice(0).forEach(closeSync)
    const started = startThread({ role: 'empty', path: databasePath, pragmas })
    started.awaitStart()
    return started
  }

  async function call(how: number): Promise<boolean> {
    thread ??= start()
    return (await thread.call(how)) === 1
  }

  async function close(): Promise<void> {
    held.splice(0).forEach(closeSync)
    await thread?.end()
  }

  return { move: () => call(0), empty: () => call(1), close }
}

/**
 * Indexes into the memory that is shared with a thread: the number of the last call, the number of the last
 * answer, its result, the mode of the call, and 1 once the thread has started.
 */
const [ASKED, ANSWERED, RESULT, HOW, STARTED] = [0, 1, 2, 3, 4]
const PLACES = 5
/** The timeout of a thread's start, which takes about 6 ms. */
const START_MS = 1_000
const FAILED = -1
const END = -1
const MAX_CALLS = 2 ** 30
const TEXT_BYTES = 512

type Thread = ReturnType<typeof startThread>

type Call = { number: number; answer: PromiseWithResolvers<number> }

/**
 * Starts a thread that is called through shared memory, which takes a third of the time of messages. All
 * calls during one run are answered by the next run.
 */
function startThread(parts: object) {
  const worker = new Worker(new URL('./disk-thread.js', import.meta.url), { smol: true })
  const numbers = new Int32Array(new SharedArrayBuffer(PLACES * Int32Array.BYTES_PER_ELEMENT))
  const text = new Uint8Array(new SharedArrayBuffer(TEXT_BYTES))
  worker.postMessage({ ...parts, numbers, text })

  /** Unanswered calls, the oldest first. */
  const calls: Call[] = []
  let isListening = false
  let died: Error | null = null
  worker.onerror = ({ message }) => {
    died = new Error(`a thread for the disk ended: ${message}`)
    for (const { answer } of calls.splice(0)) answer.reject(died)
  }

  function ask(number: number): Promise<number> {
    if (died !== null) return Promise.reject(died)
    const answer = Promise.withResolvers<number>()
    calls.push({ number, answer })
    listen(Atomics.load(numbers, ANSWERED))
    Atomics.store(numbers, ASKED, number)
    Atomics.notify(numbers, ASKED)
    return answer.promise
  }

  /** Waits for the answer after number `seen`, the last one that was taken. */
  function listen(seen: number): void {
    if (isListening) return
    isListening = true
    void Promise.resolve(Atomics.waitAsync(numbers, ANSWERED, seen).value).then(() => {
      isListening = false
      const last = takeAnswers()
      if (calls.length > 0) listen(last)
    })
  }

  /** Takes finished answers without waiting for the event loop. Returns the number of the last one. */
  function takeAnswers(): number {
    const answered = Atomics.load(numbers, ANSWERED)
    if (calls[0] === undefined || !isReached(calls[0].number, answered)) return answered
    const result = Atomics.load(numbers, RESULT)
    const after = calls.findIndex(({ number }) => !isReached(number, answered))
    // Resolve the latest call first: it settles the earlier ones too, so that one sync counts once.
    for (const { answer } of calls.splice(0, after === -1 ? calls.length : after).reverse())
      if (result === FAILED) answer.reject(readFailure(text))
      else answer.resolve(result)
    return answered
  }

  let ending: Promise<void> | null = null

  async function endOnce(andThen: () => void): Promise<void> {
    await Promise.allSettled(calls.map(({ answer }) => answer.promise))
    if (died === null) await ask(END)
    worker.terminate()
    andThen()
  }

  function end(andThen = () => {}): Promise<void> {
    ending ??= endOnce(andThen)
    return ending
  }

  const call = (how = 0) => {
    Atomics.store(numbers, HOW, how)
    return ask((Atomics.load(numbers, ASKED) + 1) % MAX_CALLS)
  }
  /** Blocks until the thread runs, so that no connection takes the file descriptors that it needs. */
  const awaitStart = () => void Atomics.wait(numbers, STARTED, 0, START_MS)
  return { call, takeAnswers, end, awaitStart }
}

/** Returns whether an answer covers a call. The numbers wrap around. */
function isReached(call: number, answered: number): boolean {
  if (call === END || answered === END) return call === answered
  return (answered - call + MAX_CALLS) % MAX_CALLS < MAX_CALLS / 2
}

/** Parses the thread's error: the code, if any, a space and the message. */
function readFailure(text: Uint8Array): Error {
  const [all = ''] = new TextDecoder().decode(text.slice()).split('\0')
  const [code, ...words] = all.split(' ')
  return Object.assign(new Error(words.join(' ')), { code })
}
