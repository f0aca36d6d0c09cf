// The log in a file: written in the background, and opened again after logrotate has moved it away.

import { writeSync } from 'node:fs'
import { reasonOf } from '../domain/system-errors.ts'
import { openLog } from './log-place.ts'

/** The most characters that wait for a slow or full disk. Further lines are dropped, so that they cannot fill the memory. */
const MAX_WAITING = 4 * 1024 * 1024

export type LogFile = {
  /** Takes one line without its newline. Never throws, and returns at once. */
  write(line: string): void
  /** Opens the path again. Throws `conflict` when that fails; the log then goes on in the old file. */
  reopen(): Promise<void>
  /** Writes all waiting lines synchronously, for a process that ends without closing the log. */
  flushNow(): void
  close(): Promise<void>
}

export type LogFileOptions = {
  path: string
  /** Called when lines are lost; not again until a write has succeeded. */
  onError: (problem: string) => void
}

/** Throws `conflict` when the file cannot be opened. */
export async function openLogFile({ path, onError }: LogFileOptions): Promise<LogFile> {
  let file = await openLog(path)
  let waiting = ''
  let lost = 0
  let isFailing = false
  let writing: Promise<void> | null = null

  function write(line: string): void {
    if (waiting.length + line.length > MAX_WAITING) lost += 1
    else waiting += `${line}\n`
    // Starts at the end of this turn of the event loop, so that one write takes the lines of many requests.
    writing = writing ?? new Promise<void>((resolve) => setImmediate(resolve)).then(writeAll)
  }

  async function writeAll(): Promise<void> {
    while (waiting !== '') {
      const lines = waiting
      waiting = ''
      await append(lines)
    }
    writing = null
  }

  async function append(lines: string): Promise<void> {
    try {
      await file.appendFile(lines)
      if (lost > 0) onError(`${lost} lines are missing in the log file ${path}.`)
      lost = 0
      isFailing = false
    } catch (cause) {
      lost += lines.split('\n').length - 1
      if (!isFailing) onError(`The log file ${path} cannot be written: ${reasonOf(cause)}. Lines are lost.`)
      isFailing = true
    }
  }

  async function reopen(): Promise<void> {
    const next = await openLog(path)
    await writing
    const before = file
    file = next
    await before.close()
  }

  function flushNow(): void {
    if (waiting === '') return
    try {
      writeSync(file.fd, waiting)
      waiting = ''
    } catch {
      // The process is ending, and its last error is on standard error too.
    }
  }

  async function close(): Promise<void> {
    await writing
    await file.close()
  }

  return { write, reopen, flushNow, close }
}
