// The log in a file: written in the background, and opened again after logrotate has moved it away.

import { closeSync, openSync, writeSync } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { DomainError } from '../domain/errors.ts'
import { reasonOf } from '../domain/system-errors.ts'

/** The most characters that wait for a slow or full disk. Further lines are dropped, so that they cannot fill the memory. */
const MAX_WAITING = 4 * 1024 * 1024
const MODE = 0o600

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
  let file = await openHandle(path)
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
    const next = await openHandle(path)
    await writing
    const before = file
    file = next
    await before.close()
  }

  function flushNow(): void {
    if (waiting === '') return
    try {
      const fd = openSync(path, 'a', MODE)
      writeSync(fd, waiting)
      closeSync(fd)
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

async function openHandle(path: string): Promise<FileHandle> {
  // Opening a pipe waits until somebody reads it, and nothing could end that wait.
  const found = await stat(path).catch(() => null)
  if (found?.isFIFO()) {
    throw new DomainError(
      'conflict',
      `The log file ${path} is a pipe: remove it, or name another --log-file.`,
    )
  }
  try {
    return await open(path, 'a', MODE)
  } catch (cause) {
    const remedy = 'Make its folder, or let the user of this process write there; or name another --log-file.'
    throw new DomainError('conflict', `Cannot open the log file ${path}: ${reasonOf(cause)}. ${remedy}`)
  }
}
